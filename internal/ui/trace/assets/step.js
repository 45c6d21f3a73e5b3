// @ts-check
// A step: what the model was given, what it answered, and the calls it asked for.

/** stepView shows one. @param {Step} s */
function stepView(s) {
  const r = s.replied >= 0 ? body(s.replied) : null;
  const kept = s.packed.flatMap(i => body(i).kept || []);
  const dropped = s.packed.flatMap(i => body(i).dropped || []);
  return [
    section('What it was given',
      s.sent.length > 1 ? el('p.trouble', {}, `It was sent ${s.sent.length} times; only the last was answered.`) : null,
      s.sent.length ? s.sent.map(requestView) : el('p.quiet', {}, 'No request is recorded.'),
      kept.length ? fold(['Recalled ', el('span.quiet', {}, plural(kept.length, 'item'))], () => itemTable(kept), true) : null,
      dropped.length ? fold(['Left out ', el('span.quiet', {}, plural(dropped.length, 'item'))], () => itemTable(dropped)) : null,
      s.packed.map(i => {
        const { kept: _, dropped: __, ...rest } = body(i);
        return Object.keys(rest).length ? fold('More about what was packed', () => tree(rest)) : null;
      })),
    section('What it answered', r ? answer(s, r) : el('p.trouble', {}, 'No reply is recorded.')),
    s.calls.length ? section('What it asked for', stepLanes(s)) : null,
    usage(s),
  ];
}

/** @param {Step} s @param {any} r a replied event */
function answer(s, r) {
  const parts = (r.message?.parts || []).filter((/** @type {any} */ p) => p.type !== 'call');
  return [
    parts.length ? parts.map(part) : el('p.quiet', {}, 'No words.'),
    r.stop === 'end' || r.stop === 'calls' ? null : el('p.trouble', {}, stopText(r.stop)),
  ].flat();
}

/** @param {string} stop */
function stopText(stop) {
  switch (stop) {
    case 'length': return 'The output limit cut the reply: none of its calls ran.';
    case 'refused': return 'The model, or its filter, declined.';
    case 'cut': return 'The stream broke off: only its words were kept.';
  }
  return `It stopped: ${stop}`;
}

/** @param {Step} s */
function usage(s) {
  if (s.replied < 0) return null;
  const { message, usage: counted, cost, stop, ...rest } = body(s.replied);
  const u = counted || {};
  const window = own(meta.windows, s.model) || 0;
  return section('What it cost', pairs(
    ['model', s.model ? code(s.model) : ''],
    ['input', `${tokens(s.in)} tokens${s.cached ? `, ${tokens(s.cached)} of them cached` : ''}${u.cache_write ? `, ${tokens(u.cache_write)} written to the cache` : ''}`],
    ['output', `${tokens(s.out)} tokens${u.reasoning ? `, ${tokens(u.reasoning)} of them reasoning` : ''}`],
    ['context', window ? `${(100 * s.in / window).toFixed(1)} % of ${tokens(window)}` : 'the window of this model is not known'],
    ['price', s.cost ? dollars(s.cost) : ''],
    ['counted', s.guess ? 'roughly, here: the API did not report it' : ''],
    ...(Object.keys(rest).length ? [/** @type {[string, Child]} */ (['also', tree(rest)])] : [])));
}

/** stepLanes shows the calls of a step side by side, with what they waited for.
 * @param {Step} s */
function stepLanes(s) {
  const from = rows[s.replied].t;
  let to = from + 1;
  for (const c of s.calls) to = Math.max(to, c.finished >= 0 ? rows[c.finished].t : from);
  /** @param {number} t */
  const at = t => Math.max(0, Math.min(100, 100 * (t - from) / (to - from)));
  return el('div.steplanes', {}, s.calls.map(c => {
    const o = outcome(c);
    const track = el('span.track', { 'aria-hidden': 'true' });
    const start = c.started >= 0 ? rows[c.started].t : c.finished >= 0 ? rows[c.finished].t : from;
    const end = c.finished >= 0 ? rows[c.finished].t : to;
    /** @param {string} kind @param {number} a @param {number} b */
    const bar = (kind, a, b) => {
      const e = el('span.bar.' + kind);
      e.style.left = at(a) + '%';
      e.style.width = `max(3px, ${at(b) - at(a)}%)`;
      track.append(e);
    };
    if (c.waits.length) bar('wait', from, start);
    bar(o, start, end);
    return el('button.lane', { on: { click: () => go(c.frame, { open: true, focus: true }) } },
      el('span.sign.' + o, { 'aria-hidden': 'true' }, OUTCOMES[o][0]),
      el('span.words', {}, el('b', {}, c.tool), ' ', word(frameList[c.frame]).text),
      track,
      el('span.more', {}, c.waits.length ? el('span.tag.wait', {}, 'waited for ' + c.waits.join(', ')) : null, o === 'ok' ? null : el('span.tag.' + o, {}, called(c)), took(frameList[c.frame]) >= 0 ? lasting(took(frameList[c.frame])) : ''));
  }));
}
