// @ts-check
// How full the context was at each step, and what the session had cost by then.

const NS = 'http://www.w3.org/2000/svg';

/** @param {string} tag @param {Record<string, string | number>} attrs */
function svg(tag, attrs) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, String(v));
  return e;
}

const W = 600, H = 90;
let curvesOf = -1;

function drawCurves() {
  const box = by('curves');
  if (curvesOf !== rows.length) {
    curvesOf = rows.length;
    box.replaceChildren();
    const answered = steps.filter(s => s.replied >= 0);
    if (!answered.length) {
      box.append(el('p.quiet', {}, 'No reply yet: nothing to draw.'));
      return;
    }
    const window = Math.max(0, ...Object.values(meta.windows));
    const most = Math.max(...answered.map(s => s.in), 1);
    const near = window && most > window / 8;
    let [sum, price] = [0, 0];
    const total = answered.map(s => (sum += s.in + s.out));
    const cost = answered.map(s => (price += s.cost));
    box.append(
      curve('Context at each step', answered, answered.map(s => s.in), near ? window : most, tokens, near ? `the window has ${tokens(window)}` : window ? `at most ${(100 * most / window).toFixed(1)} % of ${tokens(window)}` : 'tokens of each request', true),
      price ? curve('Cost so far', answered, cost, price, dollars, `${tokens(sum)} tokens`, false) : curve('Tokens so far', answered, total, sum, tokens, 'in and out', false));
  }
  for (const m of box.querySelectorAll('.marker')) {
    const at = Number(/** @type {any} */ (m).dataset.n) > 1 ? W * place01(Number(/** @type {any} */ (m).dataset.n)) : 0;
    m.setAttribute('x1', String(at));
    m.setAttribute('x2', String(at));
  }
}

/** @param {number} n steps */
function place01(n) {
  let k = 0;
  for (const s of steps) if (s.replied >= 0 && s.frame <= state.frame) k++;
  return Math.max(0, Math.min(1, (k - 1) / (n - 1)));
}

/** @param {string} title @param {Step[]} of @param {number[]} values @param {number} top @param {(n: number) => string} write @param {string} about @param {boolean} area */
function curve(title, of, values, top, write, about, area) {
  const n = values.length;
  const each = Math.ceil(n / W);
  const points = [];
  for (let i = 0; i < n; i += each) {
    const v = Math.max(...values.slice(i, i + each));
    points.push(`${(n > 1 ? W * i / (n - 1) : W / 2).toFixed(1)},${(H - (H - 6) * v / top).toFixed(1)}`);
  }
  if (n > 1) points.push(`${W},${(H - (H - 6) * values[n - 1] / top).toFixed(1)}`);
  else points.unshift(`0,${H}`);
  const line = points.join(' ');
  const last = values[n - 1], most = Math.max(...values);
  const pic = svg('svg', { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}: ${write(values[0])} at first, ${write(last)} at last, ${write(most)} at most, over ${plural(n, 'step')}` });
  for (const y of [0.25, 0.5, 0.75]) pic.append(svg('line', { class: 'grid', x1: 0, x2: W, y1: H * y, y2: H * y }));
  if (area) pic.append(svg('polygon', { class: 'area', points: `${n > 1 ? 0 : 0},${H} ${line} ${n > 1 ? W : W / 2},${H}` }));
  pic.append(svg('polyline', { class: 'line', points: line }));
  const marker = svg('line', { class: 'marker', y1: 0, y2: H, x1: 0, x2: 0 });
  /** @type {any} */ (marker).dataset.n = n;
  pic.append(marker);
  pic.addEventListener('click', e => {
    const box = pic.getBoundingClientRect();
    const i = Math.round((/** @type {MouseEvent} */ (e).clientX - box.left) / box.width * (n - 1));
    go(of[Math.max(0, Math.min(n - 1, i))].frame, { open: true });
  });
  return el('figure.curve', {}, el('figcaption', {}, el('b', {}, title), ' ', el('span.quiet', {}, about), el('span.value', {}, write(last))), pic);
}
