// @ts-check
// What is neither a step nor a call, each with a view of its own. What a view does
// not know of an event it shows as it is.

/** @param {any} b @param {...string} known */
function others(b, ...known) {
  const rest = Object.fromEntries(Object.entries(b).filter(([k]) => !known.includes(k)));
  return Object.keys(rest).length ? section('Also recorded', tree(rest)) : null;
}

/** factView shows an event. @param {Frame} f */
function factView(f) {
  const b = body(f.at);
  const make = own(FACTS, rows[f.at].k);
  return [
    rows[f.at].x ? el('p.trouble', {}, 'It cannot be shown in full: ' + rows[f.at].x) : null,
    ...(make ? make(b, f) : [section('As it was recorded', tree(b))]),
  ];
}

/** @type {Record<string, (b: any, f: Frame) => (Child)[]>} */
const FACTS = {
  opened: b => [
    section('Where', pairs(['workspace', code(b.root || '')], ['commit', b.commit ? code(b.commit) : ''], ['model', code(b.model || '')], ['mode', b.mode], ['Belay', code(b.version || '')], ['session', code(b.session || '')],
      ['forked from', b.parent ? [code(b.parent), ` at event ${b.at}`] : ''])),
    section('Tools', (b.tools || []).map((/** @type {any} */ t) => fold([el('b', {}, t.name), ' ', el('span.quiet', {}, `risk ${t.risk}; ${(t.effects || []).join(', ')}`)], () => tree(t)))),
    others(b, 'root', 'commit', 'model', 'mode', 'version', 'session', 'parent', 'at', 'tools'),
  ],
  asked: b => [
    section('What was said', block(b.text || '', 'said')),
    section('Mentioned', (b.mentions || []).map((/** @type {string} */ m) => el('p', {}, code(m)))),
    section('Shown', (b.media || []).map((/** @type {string} */ m) => artifactView(m))),
    others(b, 'text', 'mentions', 'media'),
  ],
  ruled: b => [
    section('Rules from here on', pairs(['file', code(b.path || '')], ['for', (b.path || '').includes('/') ? code(b.path.slice(0, b.path.lastIndexOf('/'))) : 'the whole workspace'], ['digest', b.digest ? code(b.digest.slice(0, 16)) : '']),
      b.left ? el('p.trouble', {}, b.text ? 'This holds, and not what the file says now: ' : 'The file is there, and the model is not shown its text: ', b.left) : null,
      b.text ? block(b.text) : b.left ? null : el('p', {}, 'The file is gone: it no longer applies.')),
    others(b, 'path', 'digest', 'text', 'left'),
  ],
  sent: (b, f) => [section('What was asked for, beside the steps', requestView(f.at)), others(b, 'request', 'repeats')],
  stopped: b => [
    section('Why it ended', el('p', {}, stopReason(b.reason || '')), b.detail ? block(b.detail) : null),
    others(b, 'reason', 'detail'),
  ],
  switched: b => [section('Another model', pairs(['from here on', code(b.to || '')], ['because', b.why])), others(b, 'to', 'why')],
  quarantined: b => [
    section('What stays out of requests', el('p', {}, b.media ? 'What the result holds beside words, of part ' : 'Part ', String(b.part ?? 0), ' of ', rowOf.has(b.seq) ? link(/** @type {number} */ (rowOf.get(b.seq))) : `event ${b.seq}`, ', which the model’s API does not take.'), pairs(['because', b.reason])),
    others(b, 'seq', 'part', 'media', 'reason'),
  ],
  constrained: b => [
    section(b.lifted ? 'A constraint ends' : 'A constraint', el('blockquote', {}, el('div', { pre: b.words || '' })), pairs(['id', code(b.id || '')], ['found by', b.by], ['said in', rowOf.has(b.seq) ? link(/** @type {number} */ (rowOf.get(b.seq))) : '']),
      b.lifted ? null : b.bans?.length ? [el('p', {}, 'What it stops, by code:'), ...b.bans.map((/** @type {any} */ x) => tree(x))] : el('p.trouble', {}, 'Nothing but the model’s good will keeps it.')),
    others(b, 'id', 'words', 'seq', 'bans', 'by', 'lifted'),
  ],
  compacted: b => [
    section('What was dropped, and why', pairs(['stands for', b.through ? `all events up to ${b.through}` : 'no event'], ['set off by', b.trigger], ['asked to keep in mind', b.hint],
      ['tokens', b.before ? `${tokens(b.before)} before, ${tokens(b.after || 0)} after` : ''], ['judged by', b.by], ['cost of asking', b.cost ? dollars(b.cost) : ''], ['tokens of asking', b.usage ? `${tokens((b.usage.input || 0) + (b.usage.cached || 0) + (b.usage.cache_write || 0))} in, ${tokens(b.usage.output || 0)} out` : ''], ['refused of what the model wrote', b.refused ? tree(b.refused) : '']),
    rowOf.has(b.through) ? el('p', {}, 'The last of them is ', link(/** @type {number} */ (rowOf.get(b.through))), '.') : null),
    section('What was kept', b.handoff ? block(b.handoff, 'said') : el('p.quiet', {}, 'No handoff.'), b.whole ? artifactView(b.whole) : null),
    section('Judgements', (b.notes || []).map((/** @type {any} */ n) => note(n))),
    section('Results that were shortened', (b.pruned || []).map((/** @type {any} */ p) => {
      const { call: id, text, why, ...rest } = p;
      return el('div.msgcall', {}, callLink(id || ''), ': ', why || '', text ? block(text) : null, Object.keys(rest).length ? tree(rest) : null);
    })),
    others(b, 'through', 'trigger', 'hint', 'before', 'after', 'by', 'handoff', 'whole', 'notes', 'pruned', 'refused', 'usage', 'cost'),
  ],
  damage: (b, f) => [section('What is missing', el('p.trouble', {}, rows[f.at].x || ''), el('p', {}, 'What follows is intact, as far as it is shown. `belay doctor` says more.'))],
};

/** @param {any} n */
function note(n) {
  const { id, kind, text, status, evidence, error, bans, ...rest } = n;
  return el('div.msgcall', {}, code(id || ''), ' ', el('b', {}, kind || ''), status ? ` (${status})` : '', ': ', text || '', pairs(['evidence', (evidence || []).map((/** @type {string} */ c) => [callLink(c), ' ']).flat()], ['error', error], ['bans', bans?.length ? tree(bans) : ''], ['also', Object.keys(rest).length ? tree(rest) : '']));
}

/** @param {string} reason */
function stopReason(reason) {
  switch (reason) {
    case 'end': return 'The model had no more to say.';
    case 'interrupted': return 'It was interrupted. It can be gone on with.';
    case 'error': return 'An error ended it. It can be gone on with.';
    case 'refused': return 'The model, or its filter, declined.';
    case 'length': return 'The output limit cut it.';
  }
  return /^limit: /.test(reason) ? `A limit was reached: ${reason.slice(7)}. It can be gone on with.` : reason;
}
