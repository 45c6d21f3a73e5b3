// @ts-check
// The list of frameList. Only what is in sight is part of the page.

const LINE = 38; // pixels of an entry
const margin = 8; // entries above and below what is in sight

const list = { top: -1, bottom: -1, stale: true };

function buildList() {
  const box = by('list');
  box.append(el('div', { id: 'spacer', role: 'presentation' }));
  box.addEventListener('scroll', () => requestAnimationFrame(drawList), { passive: true });
  new ResizeObserver(() => drawList()).observe(box);
  box.addEventListener('click', /** @param {MouseEvent} e */ e => {
    const line = /** @type {HTMLElement} */ (e.target).closest('.entry');
    if (!line) return;
    const entry = entries[Number(/** @type {HTMLElement} */ (line).dataset.at)];
    go(entry.frame, { row: entry.row, open: true });
  });
  onMove.push(() => {
    list.stale = true;
    if (state.view === 'walk') reveal();
  });
}

/** refilter makes the list again. */
function refilter() {
  choose();
  list.stale = true;
  const box = by('list');
  by('spacer').style.height = entries.length * LINE + 'px';
  const what = filter.every ? 'event' : 'frame';
  const all = filter.every ? rows.length : frameList.filter(f => f.kind !== 'fact' || !OWN.has(rows[f.at].k)).length;
  const some = entries.length === all ? plural(all, what) : `${amount(entries.length)} of ${plural(all, what)}`;
  by('count').replaceChildren(entries.length ? some : 'Nothing fits. ', entries.length ? '' : el('button.plain', { on: { click: clearFilters } }, 'Show all'));
  if (entries.length && here() < 0 && !state.follow) {
    const near = entries.find(e => e.frame >= state.frame) || entries[entries.length - 1];
    go(near.frame, { row: near.row });
  } else reveal();
  box.setAttribute('aria-label', 'Frames of the session: ' + some);
}

/** reveal scrolls so that what is looked at is in sight. */
function reveal() {
  const box = by('list');
  const at = here();
  if (at >= 0) {
    const top = at * LINE;
    if (top < box.scrollTop + LINE) box.scrollTop = Math.max(0, top - LINE);
    else if (top + 2 * LINE > box.scrollTop + box.clientHeight) box.scrollTop = top + 2 * LINE - box.clientHeight;
  }
  drawList();
}

function drawList() {
  const box = by('list');
  const top = Math.max(0, Math.floor(box.scrollTop / LINE) - margin);
  const bottom = Math.min(entries.length, Math.ceil((box.scrollTop + box.clientHeight) / LINE) + margin);
  if (!list.stale && top === list.top && bottom === list.bottom) return;
  Object.assign(list, { top, bottom, stale: false });
  const lines = [];
  const at = here();
  for (let n = top; n < bottom; n++) lines.push(entry(n, n === at));
  by('spacer').replaceChildren(...lines);
  if (at >= top && at < bottom) box.setAttribute('aria-activedescendant', 'entry-' + at);
  else box.removeAttribute('aria-activedescendant');
}

/** @param {number} n @param {boolean} on */
function entry(n, on) {
  const e = entries[n];
  const f = frameList[e.frame];
  const w = word(f);
  const r = rows[e.row >= 0 ? e.row : f.rows[0] ?? f.at];
  const ms = e.row >= 0 ? -1 : took(f);
  const line = el('div.entry.' + f.kind + '.' + w.tone, {
    id: 'entry-' + n, role: 'option', 'aria-selected': on ? 'true' : 'false', 'aria-setsize': entries.length, 'aria-posinset': n + 1, 'data-at': n,
  },
  el('span.sign', { 'aria-hidden': 'true' }, w.sign),
  el('span.words', {},
    el('b', {}, e.row >= 0 ? r.k : w.head), ' ',
    el('span.text', {}, e.row >= 0 ? [w.head, r.l || w.text].filter(Boolean).join(' · ') : w.text)),
  el('span.more', {},
    f.call && e.row < 0 && w.tone !== 'ok' ? el('span.tag.' + w.tone, {}, called(f.call)) : null,
    f.call && e.row < 0 && f.call.waits.length ? el('span.tag.wait', {}, 'waited') : null,
    ms >= 0 ? el('span', {}, lasting(ms)) : null,
    el('span.seq', {}, 'e' + r.q)));
  line.style.top = n * LINE + 'px';
  return line;
}

function buildFilters() {
  const search = by('search');
  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => { filter.words = search.value; refilter(); }, 120);
  });
  for (const k of KINDS) {
    by('chips').append(el('button.chip', { 'aria-pressed': 'false', 'data-only': k.id, on: { click: () => only(k.id) } }, k.label, ' ', el('span.n', {})));
  }
  by('tool').addEventListener('change', () => { filter.tool = chosen('tool'); refilter(); });
  by('file').addEventListener('change', () => { filter.file = chosen('file'); refilter(); });
  by('every').addEventListener('change', () => { filter.every = by('every').checked; refilter(); });
}

/** only shows frames of one kind, or all again. @param {string} id */
function only(id) {
  filter.only = filter.only === id ? '' : id;
  for (const chip of document.querySelectorAll('.chip')) chip.setAttribute('aria-pressed', String(/** @type {HTMLElement} */ (chip).dataset.only === filter.only));
  refilter();
}

function clearFilters() {
  Object.assign(filter, { words: '', only: '', tool: '', file: '', every: false });
  by('search').value = by('tool').value = by('file').value = '';
  by('every').checked = false;
  only('');
}

/** @type {Record<string, string[]>} */
const choices = { tool: [], file: [] }; // in the order of the options, which hold only numbers

/** @param {string} id */
const chosen = id => choices[id][by(id).value] || '';

/** options fills what can be chosen, and says how much of each kind there is. */
function options() {
  /** @param {string} id @param {string} all @param {[string, number][]} values */
  const fill = (id, all, values) => {
    const s = by(id);
    const was = choices[id].indexOf(chosen(id));
    const name = choices[id][was];
    choices[id] = values.map(([v]) => v);
    s.replaceChildren(el('option', { value: '' }, all), ...values.map(([v, n], i) => el('option', { value: i }, safe(`${v} (${n})`))));
    s.value = was < 0 ? '' : String(choices[id].indexOf(name));
  };
  fill('tool', 'Every tool', [...toolsUsed].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)));
  fill('file', 'Every file', [...touched].map(([p, c]) => /** @type {[string, number]} */ ([p, c.length])).sort((a, b) => (a[0] < b[0] ? -1 : 1)).slice(0, 500));
  for (const chip of document.querySelectorAll('.chip')) {
    const kind = /** @type {any} */ (KINDS.find(k => k.id === /** @type {HTMLElement} */ (chip).dataset.only));
    const n = frameList.filter(kind.fits).length;
    /** @type {any} */ (chip.querySelector('.n')).textContent = String(n);
    chip.classList.toggle('none', n === 0);
  }
}
