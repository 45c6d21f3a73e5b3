// @ts-check
// The frame that is looked at.

function buildDetail() {
  onMove.push(drawDetail);
}

let drawn = '';

function drawDetail() {
  if (state.view === 'files' || !frameList.length) return;
  const f = frameList[state.frame];
  const key = [state.frame, state.row, f.rows.join(), f.call?.finished, f.step?.replied, grown === rows.length && f.step ? steps.length : 0, state.view].join('|');
  document.body.classList.toggle('opened', state.opened);
  if (key === drawn) return;
  drawn = key;
  const box = by('detail');
  const w = word(f);
  const r = rows[f.rows[0] ?? f.at];
  box.setAttribute('aria-label', safe(`${w.head} ${w.text}`));
  box.replaceChildren(
    el('button.back.plain', { on: { click: () => { state.opened = false; document.body.classList.remove('opened'); by('list').focus(); } } }, '← All frames'),
    el('div.head', {},
      el('h2', {}, el('span.sign.' + w.tone, { 'aria-hidden': 'true' }, w.sign), ' ', el('b', {}, w.head), ' ', f.kind === 'call' ? code(w.text) : null),
      el('p.quiet', {}, ...place(f, r))),
    ...[f.call ? callView(f.call) : f.step ? stepView(f.step) : factView(f)].flat().filter(c => c),
    events(f));
  box.scrollTop = 0;
  if (state.row >= 0) {
    const raw = box.querySelector(`[data-raw="${rows[state.row].q}"]`);
    if (raw) {
      /** @type {any} */ (box.querySelector('details.events')).open = true;
      /** @type {any} */ (raw).open = true;
      if (state.row !== (f.rows[0] ?? f.at) || filter.every) raw.scrollIntoView({ block: 'nearest' });
    }
  }
}

/** place says where a frame is: what had been spent, and when it was.
 * @param {Frame} f @param {Row} r @returns {Child[]} */
function place(f, r) {
  const sum = soFar(f.step ? state.frame - 1 : state.frame);
  const no = f.step ? f.step.no : f.call?.step?.no;
  const out = [f.call ? code(f.call.id) : null, r.n ? `turn ${r.n}` : '', no ? `step ${no}` : '', sum.in + sum.out ? `${tokens(sum.in + sum.out)} tokens so far` : '',
    sum.cost ? `${dollars(sum.cost)} so far` : '', took(f) >= 0 ? `took ${lasting(took(f))}` : '', `${lasting(r.t - rows[0].t)} after the start`, el('time', { title: stamp(r.t) }, stamp(r.t))];
  return out.filter(x => x).map((x, i) => [i ? ' · ' : '', x]).flat();
}

/** events shows every event of a frame as it was recorded. @param {Frame} f */
function events(f) {
  const all = f.rows.length ? f.rows : [f.at];
  return fold(['Events ', el('span.quiet', {}, plural(all.length, 'record') + ', as they are in the log')],
    () => all.map(i => {
      const d = fold([link(i), ' ', el('b', {}, rows[i].k), ' ', el('span.quiet', {}, stamp(rows[i].t))], () => tree(body(i)), i === state.row);
      d.dataset.raw = String(rows[i].q);
      return d;
    }), state.row >= 0, 'events');
}
