// @ts-check
// A request exactly as it was sent, in its layers: L1 the program's words and the
// tools, L2 the project's rules, L3 the talk, then the recap.

const RULES = '\n# Project rules\n';

/** requestView shows the request of a row. @param {number} i */
function requestView(i) {
  const r = rows[i];
  const facts = `${size(r.y || 0)}${r.r ? `; the first ${size(r.r)} repeat the request before` : ''}`;
  return fold(['Request ', el('span.quiet', {}, facts)], () => {
    if (meta.redacted) return el('p.quiet', {}, 'Left out: this trace is for others.');
    const q = request(i);
    if (!q.whole) return [el('p.quiet', {}, 'Parts of it are not in this trace. What is:'), block(q.text)];
    /** @type {any} */
    let v;
    try {
      v = JSON.parse(q.text);
    } catch {
      return [el('p.quiet', {}, 'It does not read as JSON; as it was recorded:'), block(q.text)];
    }
    return layers(v, q);
  });
}

/** @param {any} v the request @param {{text: string, repeats: number}} q */
function layers(v, q) {
  const { system: words, tools: specs, messages: all, ...rest } = v;
  const [system, tools, messages] = [words || '', specs || [], all || []];
  const cut = system.indexOf(RULES);
  const own = cut < 0 ? system : system.slice(0, cut);
  const last = messages[messages.length - 1];
  const recap = last && last.role === 'user' && !last.seq && messages.length > 1 ? last : null;
  const talk = recap ? messages.slice(0, -1) : messages;
  return [
    pairs(...Object.entries(rest).map(([k, x]) => /** @type {[string, Child]} */ ([k, tree(x)]))),
    fold(['L1 Program ', el('span.quiet', {}, `${size(own.length)} of words, ${plural(tools.length, 'tool')}`)], () => [
      block(own),
      tools.map((/** @type {any} */ t) => fold([el('b', {}, t.name), ' ', el('span.quiet', {}, (t.effects || []).join(', '))], () => tree(t))),
    ].flat()),
    cut < 0 ? el('p.quiet', {}, 'L2 Rules: none') : fold(['L2 Rules ', el('span.quiet', {}, size(system.length - cut))], () => block(system.slice(cut + RULES.length))),
    fold(['L3 Talk ', el('span.quiet', {}, plural(talk.length, 'message'))], () => talk.map(message)),
    recap ? fold(['Recap ', el('span.quiet', {}, 'the very end')], () => (recap.parts || []).map(part), true) : null,
    fold(['As it was sent ', el('span.quiet', {}, `${size(q.text.length)} of JSON`)], () => block(q.text)),
  ];
}

/** @param {any} m */
function message(m) {
  const row = m.seq ? rowOf.get(m.seq) : undefined;
  return fold([el('b', {}, m.role), ' ', row === undefined ? null : link(row), ' ', el('span.quiet', {}, gist(m))], () => (m.parts || []).map(part));
}

/** @param {any} m */
function gist(m) {
  const kinds = (m.parts || []).map((/** @type {any} */ p) => p.type || 'part');
  const text = (m.parts || []).map((/** @type {any} */ p) => p.text || '').join(' ').trim().replace(/\s+/g, ' ');
  return (text.length > 90 ? text.slice(0, 90) + '…' : text) || [...new Set(kinds)].join(', ');
}

/** part shows a part of a message. @param {any} p */
function part(p) {
  const { type, text, ...rest } = p;
  delete rest.raw;
  switch (type) {
    case 'text': return block(text || '', 'said');
    case 'reasoning': return text ? block(text, 'thought') : el('p.quiet', {}, 'Reasoning that the provider keeps to itself.');
    case 'call': return el('div.msgcall', {}, callLink(p.id || ''), ' ', el('b', {}, p.tool || ''), tree(p.args), p.malformed ? block(p.malformed) : null);
    case 'call_result': case 'result': return el('div.msgcall', {}, 'result of ', callLink(p.call || ''), p.error ? el('span.tag.failed', {}, 'error') : null, block(text || '', 'output'), p.media ? tree(p.media) : null);
  }
  return el('div', {}, type ? el('b', {}, type) : null, text ? block(text) : null, Object.keys(rest).length ? tree(rest) : null);
}
