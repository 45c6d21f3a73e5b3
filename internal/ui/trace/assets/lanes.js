// @ts-check
// The timeline: the model in one lane, calls side by side below it, and what they
// waited for. Distances grow with the logarithm of time, so that both a
// millisecond and a minute can be seen.

/** @typedef {{a: number, b: number, lane: number, kind: string, text: string, title: string, frame: number}} Bar */

/** @type {{x: number[], bars: Bar[], lanes: number, zoom: number, chosen: boolean, made: number, left: number, right: number}} */
const lanes = { x: [], bars: [], lanes: 0, zoom: 1, chosen: false, made: -1, left: -1, right: -1 };

const LANE = 30; // pixels

/** @param {number} ms */
const gap = ms => 5 + 11 * Math.log2(1 + ms / 10);

function buildLanes() {
  by('time').append(
    el('div', { id: 'curves' }),
    el('div.lanebar', {},
      el('p.quiet', { id: 'lane-about' }, 'What was said, then the model, then calls side by side, hatched while they wait for an earlier one. Distances grow with the logarithm of time.'),
      el('button', { title: 'Closer', 'aria-label': 'Closer', on: { click: () => zoom(1.5) } }, '+'),
      el('button', { title: 'Farther', 'aria-label': 'Farther', on: { click: () => zoom(1 / 1.5) } }, '−')),
    el('div', { id: 'lanes', tabindex: '0', role: 'group', 'aria-label': 'Timeline: the model, and calls side by side. The keys j and k walk through it; the frame is described below.' },
      el('div', { id: 'strip', 'aria-hidden': 'true' })));
  by('lanes').addEventListener('scroll', () => requestAnimationFrame(drawLanes), { passive: true });
  new ResizeObserver(() => { lanes.left = -1; drawLanes(); }).observe(by('lanes'));
  by('strip').addEventListener('click', /** @param {MouseEvent} e */ e => {
    const bar = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (e.target).closest('[data-frame]'));
    if (bar) go(Number(bar.dataset.frame), { open: true });
  });
  onMove.push(() => state.view === 'time' && followLanes());
}

/** @param {number} by */
function zoom(by) {
  lanes.chosen = true;
  lanes.zoom = Math.max(0.1, Math.min(20, lanes.zoom * by));
  lanes.made = -1;
  followLanes();
}

function layOut() {
  if (lanes.made === rows.length) return;
  lanes.made = rows.length;
  lanes.left = -1;
  const x = lanes.x = [16];
  for (let i = 1; i < rows.length; i++) {
    const fact = frameList[frameOf[i - 1]]?.kind === 'fact' && !OWN.has(rows[i - 1].k);
    x.push(x[i - 1] + Math.max(fact ? 22 : 0, lanes.zoom * gap(Math.max(0, rows[i].t - rows[i - 1].t))));
  }
  /** @type {Bar[]} */
  const bars = lanes.bars = [];
  /** @type {number[]} */
  const free = []; // where each lane of calls ends
  frameList.forEach((f, n) => {
    const w = word(f);
    const title = `${w.head} ${w.text}`;
    if (f.kind === 'fact') {
      if (!OWN.has(rows[f.at].k)) bars.push({ a: x[f.at], b: x[f.at] + 22, lane: 0, kind: 'fact ' + w.tone, text: w.sign, title, frame: n });
    } else if (f.step) {
      const to = f.step.replied >= 0 ? f.step.replied : f.rows[f.rows.length - 1];
      bars.push({ a: x[f.rows[0]], b: Math.max(x[to], x[f.rows[0]] + 4), lane: 1, kind: 'model', text: w.head, title, frame: n });
    } else if (f.call) {
      const c = f.call;
      const end = c.finished >= 0 ? x[c.finished] : x[Math.max(c.started, c.asked, f.rows[f.rows.length - 1] ?? 0)] + 6;
      const start = c.started >= 0 ? x[c.started] : Math.max(end - 6, x[f.rows[0] ?? c.asked]);
      const from = c.waits.length ? x[c.asked] : start;
      let lane = free.findIndex(at => at <= from);
      if (lane < 0) lane = free.length;
      free[lane] = Math.max(end, start + 4) + 2;
      if (c.waits.length) bars.push({ a: from, b: start, lane: lane + 2, kind: 'wait', text: '', title: `${title}: waited for ${c.waits.join(', ')}`, frame: n });
      bars.push({ a: start, b: Math.max(end, start + 4), lane: lane + 2, kind: w.tone, text: c.tool, title, frame: n });
    }
  });
  lanes.lanes = free.length + 2;
  const strip = by('strip');
  strip.style.width = x[x.length - 1] + 60 + 'px';
  strip.style.height = lanes.lanes * LANE + 26 + 'px';
}

function followLanes() {
  const box = by('lanes');
  if (!lanes.made || lanes.made < 0 && !lanes.chosen) { // a short session fills the width
    lanes.zoom = 1;
    layOut();
    const full = lanes.x[lanes.x.length - 1] + 60;
    lanes.zoom = Math.max(1, Math.min(4, box.clientWidth / full));
    lanes.made = -1;
  }
  layOut();
  const own = lanes.bars.filter(b => b.frame === state.frame);
  if (own.length) {
    const [a, b] = [own[0].a, own[own.length - 1].b];
    if (a < box.scrollLeft + 40 || b > box.scrollLeft + box.clientWidth - 40) box.scrollLeft = Math.max(0, a - box.clientWidth / 3);
    const top = own[own.length - 1].lane * LANE;
    if (top < box.scrollTop || top + 2 * LANE > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - LANE);
  }
  lanes.left = -1;
  drawLanes();
  drawCurves();
}

function drawLanes() {
  if (state.view !== 'time') return;
  layOut();
  const box = by('lanes');
  const left = box.scrollLeft - 400, right = box.scrollLeft + box.clientWidth + 400;
  if (lanes.left >= 0 && Math.abs(lanes.left - box.scrollLeft) < 200 && lanes.right === box.clientWidth) return;
  [lanes.left, lanes.right] = [box.scrollLeft, box.clientWidth];
  const out = [];
  let lastTick = -1e9;
  for (const s of steps) {
    const i = s.sent[0] ?? s.replied;
    if (i === undefined || i < 0 || lanes.x[i] < left || lanes.x[i] > right || lanes.x[i] - lastTick < 90) continue;
    lastTick = lanes.x[i];
    const t = el('span.tick', {}, lasting(rows[i].t - rows[0].t));
    t.style.left = lanes.x[i] + 'px';
    out.push(t);
  }
  for (const b of lanes.bars) {
    if (b.b < left || b.a > right) continue;
    const e = el('span.bar.' + b.kind.split(' ').join('.') + (b.frame === state.frame ? '.on' : ''), { title: b.title, 'data-frame': b.frame }, b.b - b.a > 34 || b.lane === 0 ? b.text : '');
    e.style.left = b.a + 'px';
    e.style.width = b.b - b.a + 'px';
    e.style.top = b.lane * LANE + 24 + 'px';
    out.push(e);
  }
  by('strip').replaceChildren(...out);
}
