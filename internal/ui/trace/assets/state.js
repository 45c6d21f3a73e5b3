// @ts-check
// What is looked at: one frame, in one view.

const state = { frame: 0, row: -1, view: 'walk', playing: 0, speed: 1, follow: false, opened: false };

/** @type {(() => void)[]} */
const onMove = [];

/** go looks at a frame, or at one event of it.
 * @param {number} frame @param {{row?: number, focus?: boolean, open?: boolean, quiet?: boolean}} [how] */
function go(frame, how = {}) {
  if (!frameList.length) return;
  state.frame = Math.max(0, Math.min(frameList.length - 1, frame));
  state.row = how.row ?? -1;
  if (how.open) state.opened = true;
  const f = frameList[state.frame];
  const seq = rows[state.row >= 0 ? state.row : f.rows[0] ?? f.at].q;
  if (!how.quiet) history.replaceState(null, '', '#e' + seq);
  for (const f of onMove) f();
  if (how.focus) by('detail').focus({ preventScroll: true });
}

/** toEvent goes to an event by its number, and reports whether there is one.
 * @param {number} seq */
function toEvent(seq) {
  const row = rowOf.get(seq);
  if (row === undefined) return false;
  const frame = frameOf[row];
  go(frame, { row, open: true });
  return true;
}

/** link leads to an event. @param {number} row @param {...Child} text */
function link(row, ...text) {
  const seq = rows[row].q;
  return el('a.ref', { href: '#e' + seq, 'data-event': seq }, ...(text.length ? text : ['e' + seq]));
}

/** callLink leads to a call. @param {string} id */
function callLink(id) {
  const c = calls.get(id);
  return c ? link(frameList[c.frame].rows[0] ?? c.asked, id + ' ' + c.tool) : code(id);
}

/** move goes on in the list. @param {number} by */
function move(by) {
  if (!entries.length) return;
  let at = here();
  if (at < 0) at = by > 0 ? entries.findIndex(e => e.frame > state.frame) - by : entries.findLastIndex(e => e.frame < state.frame) - by;
  const to = entries[Math.max(0, Math.min(entries.length - 1, at + by))];
  go(to.frame, { row: to.row });
}

/** here returns the entry that is looked at, -1 if the list does not have it. */
function here() {
  const f = frameList[state.frame];
  if (!f) return -1;
  const row = state.row >= 0 ? state.row : f.rows[0] ?? f.at;
  /** @param {Entry} e */
  const of = e => (filter.every ? e.row - row : e.frame - state.frame);
  let low = 0, high = entries.length - 1; // they are in order
  while (low < high) {
    const mid = (low + high) >> 1;
    if (of(entries[mid]) < 0) low = mid + 1;
    else high = mid;
  }
  return entries.length && of(entries[low]) === 0 ? low : -1;
}

/** problem goes to the next frame in which something is wrong. @param {1 | -1} by */
function problem(by) {
  for (let n = state.frame + by; n >= 0 && n < frameList.length; n += by) {
    if (trouble(frameList[n])) return go(n);
  }
}

/** turn goes to the next turn. @param {1 | -1} by */
function turn(by) {
  const to = by > 0 ? turns.find(n => n > state.frame) : turns.findLast(n => n < state.frame);
  if (to !== undefined) go(to);
}

/** view changes what the page shows. @param {string} name */
function view(name) {
  state.view = name;
  document.body.dataset.view = name;
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const on = /** @type {HTMLElement} */ (tab).dataset.view === name;
    tab.setAttribute('aria-selected', String(on));
    tab.setAttribute('tabindex', on ? '0' : '-1');
  }
  for (const id of ['walk', 'time', 'files']) by(id).hidden = id !== name;
  by('detail').hidden = name === 'files';
  for (const f of onMove) f();
}
