// @ts-check
// A call: why it was made, what it did, what came back, and what followed.

/** callView shows one. @param {Call} c */
function callView(c) {
  const plan = c.planned.length ? body(c.planned[c.planned.length - 1]).plan : null;
  const result = c.finished >= 0 ? body(c.finished).result || {} : null;
  return [
    section('Why', why(c), decision(c), waiting(c)),
    section('What it did', did(c, plan)),
    section('What came back', result ? cameBack(c, result) : el('p.trouble', {}, c.started >= 0 ? 'No result is recorded: it may or may not have happened.' : 'It never started.')),
    section('What followed', followed(c)),
  ];
}

/** why says what the model said before the call, and what it had been given.
 * @param {Call} c */
function why(c) {
  if (!c.step || c.step.replied < 0) return el('p', {}, 'A person asked for this call, not the model.');
  const message = body(c.step.replied).message || {};
  const before = [];
  for (const p of message.parts || []) {
    if (p.type === 'call' && p.id === c.id) break;
    if (p.type === 'text' || p.type === 'reasoning') before.push(p);
  }
  const items = c.step.packed.flatMap(i => body(i).kept || []);
  return [
    before.length ? before.map(part) : el('p.quiet', {}, 'The model said nothing before it.'),
    items.length ? fold(['What it had been given ', el('span.quiet', {}, plural(items.length, 'item'))], () => itemTable(items)) : null,
  ].flat();
}

/** itemTable lists what was recalled. @param {any[]} items */
function itemTable(items) {
  return el('table.items', {},
    el('thead', {}, el('tr', {}, ['Slot', 'Source', 'Score', 'Tokens', 'Why'].map(h => el('th', { scope: 'col' }, h)))),
    el('tbody', {}, items.map(i => {
      const { slot, source, score, why, text, tokens: n, pinned, out, path, first, last, digest, ...rest } = i;
      return el('tr', {}, el('td', {}, slot || ''), el('td', {}, source || path ? code(source || path) : '', text ? fold('text', () => block(text)) : null, Object.keys(rest).length ? tree(rest) : null),
        el('td.num', {}, typeof score === 'number' ? score.toFixed(2) : ''), el('td.num', {}, typeof n === 'number' ? tokens(n) : ''),
        el('td', {}, why || '', out ? el('p.out', {}, 'left out: ' + out) : null, pinned ? el('span.tag', {}, 'pinned') : null));
    })));
}

/** decision says what was decided, and by which rule. @param {Call} c */
function decision(c) {
  return c.decided.map(i => {
    const d = body(i);
    const plan = c.planned.findLast(p => p < i);
    const waited = plan === undefined ? 0 : rows[i].t - rows[plan].t;
    return el('p.decision', {}, el('span.tag.' + (d.verdict === 'allow' ? 'ok' : 'denied'), {}, d.verdict === 'allow' ? 'allowed' : d.verdict === 'deny' ? 'denied' : d.verdict || '?'),
      ' by ', d.by === 'person' ? el('b', {}, 'a person') : code(d.by || 'nobody'), d.reason ? ': ' : '', d.reason ? el('span', {}, d.reason) : null,
      d.by === 'person' && waited >= 100 ? ` (after ${lasting(waited)})` : '',
      d.remember || d.also ? el('span', {}, '; from now on ', [d.remember, ...(d.also || [])].filter(Boolean).map(r => [code(r), ' ']).flat()) : null,
      ' ', link(i));
  });
}

/** waiting says which calls it waited for, and by which effects. @param {Call} c */
function waiting(c) {
  const waits = c.started >= 0 ? body(c.started).waited || [] : [];
  if (!waits.length) return null;
  const ms = c.step && c.step.replied >= 0 ? rows[c.started].t - rows[c.step.replied].t : 0;
  return el('div.waits', {}, el('p', {}, `It waited ${lasting(ms)} for earlier calls that it could not overlap with:`),
    el('ul.plainlist', {}, waits.map((/** @type {any} */ w) => el('li', {}, callLink(w.call), ': its ', code(effectText(w.held)), ' and the ', code(effectText(w.effect)), ' of this call'))));
}

/** @param {Call} c @param {any} plan */
function did(c, plan) {
  const asked = c.step && c.step.replied >= 0 ? (body(c.step.replied).message?.parts || []).find((/** @type {any} */ p) => p.type === 'call' && p.id === c.id) : null;
  const args = plan?.call?.args ?? asked?.args;
  const out = [];
  if (plan?.preview) {
    const kept = /^artifact:/.test(plan.preview) ? artifact(plan.preview)?.text : plan.preview;
    if (kept === undefined) out.push(artifactView(plan.preview));
    else if (isDiff(kept)) out.push(diff(kept));
    else out.push(block(kept, 'command'));
  }
  if (asked?.malformed) out.push(el('p.trouble', {}, 'The arguments were not JSON:'), block(asked.malformed));
  if (args !== undefined && args !== null) out.push(fold('Arguments', () => tree(args), !plan?.preview));
  if (!plan) {
    out.push(el('p.quiet', {}, 'Nothing was planned: the call was answered before that.'));
    return out;
  }
  const { call: _, parts: all, summary, preview, profile, timeout, key, version, ...rest } = plan;
  const parts = all || [];
  out.push(parts.length ? el('table.items', {},
    el('thead', {}, el('tr', {}, ['Part', 'Effects at most', 'Held'].map(h => el('th', { scope: 'col' }, h)))),
    el('tbody', {}, parts.map((/** @type {any} */ p) => el('tr', {}, el('td', {}, code(p.name || '')),
      el('td', {}, (p.effects || []).map((/** @type {any} */ e) => el('div', {}, code(effectText(e)))), p.why ? el('span.quiet', {}, p.why) : null),
      el('td', {}, p.held ? 'by the sandbox' : ''))))) : null);
  out.push(pairs(['sandbox', profile ? code(profile) : ''], ['time limit', timeout ? lasting(timeout / 1e6) : ''],
    ...(Object.keys(rest).length ? [/** @type {[string, Child]} */ (['also', tree(rest)])] : [])));
  if (c.planned.length > 1) out.push(el('p.quiet', {}, `It was planned ${c.planned.length} times: `, c.planned.map(i => [link(i), ' ']).flat()));
  return out;
}

/** cameBack shows a result. @param {Call} c @param {any} r */
function cameBack(c, r) {
  const { status, text, data, error, seen, edits: changed, artifacts, media, todo, confined, metrics, ...rest } = r;
  const o = outcome(c);
  const { kind, message, suggested_action, retryable, detail, ...odd } = error || {};
  return [
    el('p', {}, el('span.tag.' + o, {}, OUTCOMES[o][1]), ' ', status !== 'success' && status !== OUTCOMES[o][1] ? code(status || '') : null,
      error ? [' ', el('b.kind', {}, kind || ''), ' ', message || ''] : null),
    error ? pairs(['next', suggested_action], ['retry', retryable ? 'the same call may succeed later' : ''], ['detail', detail ? tree(detail) : ''], ...Object.entries(odd).map(([k, v]) => /** @type {[string, Child]} */ ([k, tree(v)]))) : null,
    o === 'unknown' ? el('p.trouble', {}, 'A crash cut it off. It may have happened; only a person could say.') : null,
    text && text.trim() !== (message || '').trim() ? block(text, 'output') : el('p.quiet', {}, error ? '' : 'No text.'),
    changed?.length ? edits(changed) : null,
    (artifacts || []).map((/** @type {any} */ a) => artifactView(a.handle, a)),
    (media || []).map((/** @type {any} */ a) => artifactView(a.handle, a)),
    todo ? el('ul.todo', {}, todo.map((/** @type {any} */ t) => el('li.' + (['pending', 'active', 'done'].includes(t.state) ? t.state : 'pending'), {}, el('span.quiet', {}, `[${t.state}]`), ' ', t.text))) : null,
    pairs(['held by', confined ? code(confined) : ''], ['time', metrics ? lasting(metrics.duration_ms) : ''],
      ['the model now knows', seen ? Object.keys(seen).map(p => [code(p), seen[p] ? '' : ' (gone)', ' ']).flat() : '']),
    data !== undefined ? fold('The same facts as data', () => tree(data)) : null,
    Object.keys(rest).length ? fold('More', () => tree(rest)) : null,
  ].flat();
}

/** followed says what the model made of it. @param {Call} c */
function followed(c) {
  const out = [];
  if (c.settled >= 0) {
    const s = body(c.settled);
    out.push(el('p', {}, 'A person settled it as ', el('b', {}, s.as || ''), s.note ? `: ${s.note}` : '', ' ', link(c.settled)));
  }
  const next = c.step ? steps[c.step.n] : steps.find(s => s.frame > c.frame);
  if (!next || next.replied < 0) {
    out.push(el('p.quiet', {}, c.step ? 'The model did not speak again.' : 'Nothing.'));
    return out;
  }
  const message = body(next.replied).message || {};
  const bad = outcome(c) !== 'ok';
  out.push(el('p', {}, bad ? 'The model’s reaction, ' : 'The model then said, ', link(next.replied, `step ${next.no}`), ':'));
  const said = (message.parts || []).filter((/** @type {any} */ p) => p.type === 'reasoning' && p.text || p.type === 'text' && p.text);
  out.push(...(said.length ? said.map(part) : [el('p.quiet', {}, 'No words.')]));
  out.push(next.calls.length ? el('p', {}, 'and decided on ', next.calls.map((n, i) => [i ? ', ' : '', callLink(n.id), ' ', el('span.quiet', {}, n.line)]).flat())
    : el('p', {}, rows[next.replied].u === 'end' ? 'and was done.' : `and stopped: ${rows[next.replied].u}.`));
  return out;
}
