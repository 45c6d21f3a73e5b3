// @ts-check
// What the file, or the server, has of a session. Rows are there at once; events,
// artifacts and requests are decoded when they are looked at.

/** @typedef {{q: number, k: string, t: number, n?: number, s?: number, c?: string, o?: string, l?: string, u?: string,
 * f?: string, b?: string, p?: string[], cs?: {id: string, o: string, l?: string}[], w?: string[], i?: number, h?: number,
 * z?: number, m?: number, e?: boolean, y?: number, r?: number, a?: string, d?: string, x?: string}} Row see row.go */

/** @type {Row[]} */
const rows = [];

/** @typedef {{first: number, n: number, element: Element | null, bodies: any[] | null}} Chunk */
/** @type {Chunk[]} */
const chunks = [];

/** @type {Map<string, any>} */
const fetched = new Map(); // artifacts that a server sent

/** @type {{session: string, events: number, redacted?: boolean, windows: Record<string, number>, owners: Record<string, any[]>,
 * unowned?: Record<string, string>, damage?: string[], left?: {what: string, event?: number, bytes: number, why: string}[]}} */
let meta = { session: '', events: 0, windows: {}, owners: {} };

/** @type {Map<number, number>} */
const rowOf = new Map(); // by the number of an event

const decoded = /** @type {Chunk[]} */ ([]); // newest last
const maxDecoded = 24;

function readPage() {
  const bodies = document.querySelectorAll('script.bodies');
  document.querySelectorAll('script.rows').forEach((e, i) => addRows(JSON.parse(e.textContent || '[]'), bodies[i], null));
  const m = by('meta');
  if (m) meta = JSON.parse(m.textContent);
}

/** @param {Row[]} more @param {Element | null} element @param {any[] | null} bodies */
function addRows(more, element, bodies) {
  chunks.push({ first: rows.length, n: more.length, element, bodies });
  for (const r of more) {
    if (r.q) rowOf.set(r.q, rows.length);
    rows.push(r);
  }
}

/** @param {number} i a row @returns {Chunk} */
function chunkOf(i) {
  let low = 0, high = chunks.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (chunks[mid].first <= i) low = mid;
    else high = mid - 1;
  }
  return chunks[low];
}

/** @param {Chunk} c @returns {any[]} */
function bodiesOf(c) {
  if (c.bodies) return c.bodies;
  c.bodies = JSON.parse(c.element?.textContent || '[]');
  decoded.push(c);
  if (decoded.length > maxDecoded) /** @type {Chunk} */ (decoded.shift()).bodies = null;
  return /** @type {any[]} */ (c.bodies);
}

/** body returns an event as it was recorded, {} if it cannot be shown.
 * @param {number | undefined} i its row @returns {any} */
function body(i) {
  if (i === undefined || i < 0) return {};
  const c = chunkOf(i);
  return bodiesOf(c)[i - c.first] || {};
}

/** artifact returns what the page has of one, null if it has nothing.
 * @param {string} handle @returns {{bytes: number, text?: string, type?: string, base64?: string} | null} */
function artifact(handle) {
  const digest = handle.replace(/^artifact:/, '');
  if (!/^[0-9a-f]{64}$/.test(digest)) return null;
  const e = by('a-' + digest);
  return e ? JSON.parse(e.textContent) : fetched.get(digest) || null;
}

/** found returns the rows whose events contain words, in any case.
 * @param {string} words @returns {Set<number>} */
function found(words) {
  const wanted = words.toLowerCase();
  // In the file "<", ">" and "&" are escaped, in a decoded event they are not.
  const inJSON = JSON.stringify(wanted).slice(1, -1);
  const inFile = inJSON.replace(/[<>&]/g, c => '\\u00' + c.charCodeAt(0).toString(16));
  /** @type {Set<number>} */
  const out = new Set();
  for (const c of chunks) {
    const raw = c.element ? (c.element.textContent || '').toLowerCase().includes(inFile) : true;
    const all = raw ? bodiesOf(c) : null;
    for (let i = 0; i < c.n; i++) {
      const r = rows[c.first + i];
      const near = `${r.k} ${r.l || ''} ${r.o || ''} ${r.c || ''} e${r.q}`.toLowerCase();
      if (near.includes(wanted) || all && JSON.stringify(all[i]).toLowerCase().includes(inJSON)) out.add(c.first + i);
    }
  }
  return out;
}

/** request rebuilds what was sent: each request is the beginning of the one before
 * it and an artifact. Lengths are bytes.
 * @param {number} i the row of a sent event
 * @returns {{text: string, whole: boolean, repeats: number}} */
function request(i) {
  /** @type {Uint8Array[]} */
  let parts = [];
  let whole = true;
  let last = 0;
  let from = i; // the last one that repeats nothing
  while (from > 0 && !(rows[from].k === 'sent' && !rows[from].r)) from--;
  for (let n = from; n <= i; n++) {
    const r = rows[n];
    if (r.k !== 'sent') continue;
    let keep = last = r.r || 0;
    const kept = [];
    for (const p of parts) {
      if (keep <= 0) break;
      kept.push(p.length <= keep ? p : p.subarray(0, keep));
      keep -= p.length;
    }
    const a = artifact(r.a || '');
    const text = a?.text;
    const bytes = text === undefined ? new Uint8Array() : new TextEncoder().encode(text);
    if (keep <= 0 && !kept.length) whole = true;
    if (text === undefined && (r.y || 0) > (r.r || 0) || keep > 0 || /\udbff/.test(text || '')) whole = false;
    parts = kept.concat([bytes]);
  }
  const d = new TextDecoder();
  return { text: parts.map(p => d.decode(p, { stream: true })).join('') + d.decode(), whole, repeats: last };
}
