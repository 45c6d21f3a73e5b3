// @ts-check
// The keyboard, and the replay.

/** @type {[string, string][]} */
const KEYS = [
  ['j  ↓', 'next frame'], ['k  ↑', 'frame before'], ['n  p', 'next and last problem'], [']  [', 'next and last turn'], ['Home  End', 'first and last frame'],
  ['Enter', 'into the frame'], ['Esc', 'back to the list'], ['space', 'replay, or hold it'], ['+  −', 'faster, slower'], ['/', 'search'], ['f', 'filters'], ['e', 'every event, or frames'],
  ['1  2  3', 'frames, timeline, files'], ['t', 'dark or light'], ['?', 'these keys'],
];

function buildKeys() {
  const help = /** @type {any} */ (document.querySelector('dialog#keys-help'));
  help.append(el('h2', { id: 'help-title' }, 'Keys'), el('dl.keys', {}, KEYS.flatMap(([k, what]) => [el('dt', {}, ...k.split('  ').map(x => el('kbd', {}, x))), el('dd', {}, what)])),
    el('p.quiet', {}, 'Every event has an address: add #e and its number to that of this page.'), el('button', { on: { click: () => help.close() } }, 'Close'));
  by('help-open').addEventListener('click', () => help.showModal());
  document.addEventListener('keydown', e => {
    const target = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
    if (e.key === 'Escape') {
      if (state.playing) play(false);
      state.opened = false;
      document.body.classList.remove('opened');
      return by('list').focus();
    }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !(target.id === 'every')) return;
    if (/^(Enter| )$/.test(e.key) && /^(BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
    if (target.getAttribute('role') === 'tab' && /^Arrow(Left|Right)$/.test(e.key)) return tabs(e.key === 'ArrowRight' ? 1 : -1);
    const scrolls = /^Arrow|^Home$|^End$|^Page/.test(e.key) && target !== by('list') && target.scrollHeight > target.clientHeight + 4 && target !== document.body && target.id !== 'lanes';
    if (scrolls) return;
    const f = own(ACTIONS, e.key);
    if (!f) return;
    e.preventDefault();
    f();
  });
  by('first').addEventListener('click', () => edge(-1));
  by('last').addEventListener('click', () => edge(1));
  by('prev').addEventListener('click', () => move(-1));
  by('next').addEventListener('click', () => move(1));
  by('toggle').addEventListener('click', () => play(!state.playing));
  by('speed').addEventListener('click', () => faster(state.speed >= 8 ? 1 / 16 : 2));
  by('scrub').addEventListener('input', () => {
    const e = entries[Number(by('scrub').value)];
    if (e) go(e.frame, { row: e.row });
  });
  by('theme').addEventListener('click', theme);
  for (const tab of document.querySelectorAll('[role=tab]')) tab.addEventListener('click', () => view(/** @type {any} */ (tab).dataset.view));
  document.addEventListener('click', e => {
    const a = /** @type {HTMLElement} */ (e.target).closest('a');
    if (a?.dataset.event) {
      e.preventDefault();
      if (state.view === 'files') view('walk');
      toEvent(Number(a.dataset.event));
    } else if (a && 'skip' in a.dataset) {
      e.preventDefault();
      by('detail').focus();
    }
  });
  window.addEventListener('hashchange', fromAddress);
  onMove.push(drawPlay);
}

/** @type {Record<string, () => void>} */
const ACTIONS = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1), ArrowRight: () => move(1), ArrowLeft: () => move(-1),
  PageDown: () => move(10), PageUp: () => move(-10), Home: () => edge(-1), End: () => edge(1), g: () => edge(-1), G: () => edge(1),
  n: () => problem(1), p: () => problem(-1), ']': () => turn(1), '[': () => turn(-1),
  ' ': () => play(!state.playing), '+': () => faster(2), '=': () => faster(2), '-': () => faster(1 / 2),
  '/': () => { view('walk'); by('search').focus(); by('search').select(); },
  f: () => { view('walk'); /** @type {any} */ (document.querySelector('.chip')).focus(); },
  e: () => { by('every').checked = filter.every = !filter.every; refilter(); },
  1: () => view('walk'), 2: () => view('time'), 3: () => view('files'), t: () => theme(),
  Enter: () => { state.opened = true; document.body.classList.add('opened'); by('detail').focus(); },
  '?': () => /** @type {any} */ (document.querySelector('dialog#keys-help')).showModal(),
};

/** @param {1 | -1} by */
function tabs(by) {
  const all = ['walk', 'time', 'files'];
  const to = all[(all.indexOf(state.view) + by + all.length) % all.length];
  view(to);
  /** @type {any} */ (document.querySelector(`[data-view="${to}"][role=tab]`)).focus();
}

/** @param {1 | -1} side */
function edge(side) {
  const e = side < 0 ? entries[0] : entries[entries.length - 1];
  if (e) go(e.frame, { row: e.row });
}

/** theme changes between dark and light. */
function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
}

/** faster changes the speed of the replay. @param {number} times */
function faster(times) {
  state.speed = Math.max(0.5, Math.min(8, state.speed * times));
  by('speed').replaceChildren(`${state.speed === 0.5 ? '½' : state.speed}×`);
  by('speed').setAttribute('aria-label', `Speed of the replay: ${state.speed} times`);
  if (state.playing) play(true);
}

/** play walks through the frames, or holds. @param {boolean} on */
function play(on) {
  clearTimeout(state.playing);
  state.playing = 0;
  if (on) {
    const at = here();
    if (at === entries.length - 1) edge(-1);
    const tick = () => {
      if (here() >= entries.length - 1) return play(false);
      move(1);
      state.playing = window.setTimeout(tick, pace());
    };
    state.playing = window.setTimeout(tick, pace());
  }
  by('toggle').replaceChildren(state.playing ? 'Hold' : 'Play');
}

/** pace returns how long a frame stays: longer where the session took longer, and
 * never so long that one waits. */
function pace() {
  const ms = Math.max(0, took(frameList[state.frame]));
  return (500 + Math.min(1500, 150 * Math.log2(1 + ms / 50))) / state.speed;
}

function drawPlay() {
  const at = here();
  const scrub = by('scrub');
  scrub.max = String(Math.max(0, entries.length - 1));
  if (at >= 0) scrub.value = String(at);
  scrub.setAttribute('aria-valuetext', `frame ${at + 1} of ${entries.length}`);
  const sum = soFar(state.frame);
  const window = own(meta.windows, sum.model) || 0;
  by('where').replaceChildren(...[
    el('b', {}, at >= 0 ? `${amount(at + 1)} / ${amount(entries.length)}` : `– / ${amount(entries.length)}`),
    sum.steps ? el('span', {}, `step ${sum.no} of turn ${sum.turn}`) : null,
    el('span', {}, `${tokens(sum.in + sum.out)} tokens so far`),
    sum.cost ? el('span', {}, dollars(sum.cost)) : null,
    sum.fill ? el('span', {}, window ? `context ${(100 * sum.fill / window).toFixed(1)} %` : `context ${tokens(sum.fill)}`) : null,
  ].filter(x => x).map(x => /** @type {Node} */ (x)));
}

/** fromAddress goes to the event that the page's address names. */
function fromAddress() {
  const m = /^#e(\d+)$/.exec(location.hash);
  return !!m && toEvent(Number(m[1]));
}
