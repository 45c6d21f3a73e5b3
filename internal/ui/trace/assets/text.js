// @ts-check
// All that comes from a session becomes a part of the page here, as text and
// nothing else. What hides or reorders other characters is shown as a mark.

/** What is shown as a mark: a whole sequence that a terminal obeys, a text that was
 * left out, then single characters. Half of a surrogate pair is a byte that is no
 * UTF-8; see encode.go. */
const HIDDEN = new RegExp([
  String.raw`\x1b\[[0-9;:<=>?]*[ -/]*[@-~]`,
  String.raw`\udbff\d+\udbff`,
  String.raw`\r\n`,
  String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u2800\u3164\uffa0\ud800-\udfff]`,
  String.raw`[\u{e0100}-\u{e01ef}]`,
  String.raw`(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}\u200c\u200d])\p{Cf}`,
  String.raw`(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])`,
].join('|'), 'gu');

/** markText returns what is shown for something hidden. @param {string} c */
function markText(c) {
  const left = /^\udbff(\d+)\udbff$/u.exec(c);
  if (left) return `[${amount(Number(left[1]))} bytes are not in this trace]`;
  if (c.length > 1 && c[0] === '\x1b') return '\\x1b' + c.slice(1);
  if (c === '\r') return '\\r';
  const n = /** @type {number} */ (c.codePointAt(0));
  const hex = n.toString(16);
  if (n >= 0xdc80 && n <= 0xdcff) return '\\x' + hex.slice(2);
  if (n < 0x80) return '\\x' + hex.padStart(2, '0');
  return n > 0xffff ? '\\U' + hex.padStart(8, '0') : '\\u' + hex.padStart(4, '0');
}

/** safe returns text as an attribute can have it. @param {string} text */
function safe(text) {
  return String(text).replace(HIDDEN, c => c === '\r\n' ? '\n' : markText(c));
}

/** show returns text with marks. With line it is on one line.
 * @param {string} text @param {boolean} [line] */
function show(text, line) {
  const out = document.createDocumentFragment();
  text = String(text);
  let at = 0;
  /** @param {string} c @param {string} kind @param {string} title */
  const mark = (c, kind, title) => {
    const s = document.createElement('span');
    s.className = kind;
    s.title = title;
    s.textContent = c;
    out.append(s);
  };
  /** @param {string} s */
  const plain = s => {
    if (!line || !/[\n\t]/.test(s)) {
      if (s) out.append(s);
      return;
    }
    for (const piece of s.split(/([\n\t])/)) {
      if (piece === '\n' || piece === '\t') mark(piece === '\n' ? '⏎' : '⇥', 'mark', piece === '\n' ? 'line end' : 'tab');
      else if (piece) out.append(piece);
    }
  };
  for (const m of text.matchAll(HIDDEN)) {
    plain(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[0] === '\r\n') plain('\n');
    else if (m[0][0] === '\udbff' && m[0].length > 1) mark(markText(m[0]), 'cut', 'left out because it is long');
    else mark(markText(m[0]), 'mark', m[0].length > 2 ? 'an escape sequence of a terminal' : 'U+' + /** @type {number} */ (m[0].codePointAt(0)).toString(16).toUpperCase().padStart(4, '0'));
  }
  plain(text.slice(at));
  return out;
}

/** @typedef {Node | string | number | null | undefined | false} Child */

/** el makes an element. Strings among the children are shown as text on one line;
 * attributes are ours, but for their values.
 * @param {string} tag @param {Record<string, any>} [attrs] @param {...(Child | Child[])} children
 * @returns {any} */
function el(tag, attrs, ...children) {
  const [type, ...classes] = tag.split('.');
  const e = document.createElement(type);
  if (classes.length) e.className = classes.join(' ');
  for (const [k, v] of Object.entries(attrs || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k === 'on') for (const [event, f] of Object.entries(v)) e.addEventListener(event, f);
    else if (k === 'pre') e.append(show(v));
    else if (/^(id|title|role|type|tabindex|value|for|open|disabled|scope|colspan|lang|dir|aria-[a-z]+|data-[a-z]+)$/.test(k)) e.setAttribute(k, v === true ? '' : safe(v));
    else if (k === 'href' && /^#/.test(v)) e.setAttribute(k, v);
    else throw new Error('attribute ' + k);
  }
  for (const c of children.flat()) {
    if (c === null || c === undefined || c === false) continue;
    e.append(typeof c === 'object' ? c : show(String(c), true));
  }
  return e;
}

/** code shows something short in the words of a session. @param {string} text */
const code = text => el('code', { dir: 'ltr' }, text);

/** amount writes a number with separators. @param {number} n */
const amount = n => Math.round(n).toLocaleString('en');

/** tokens writes a number of tokens. @param {number} n */
function tokens(n) {
  if (n < 10000) return amount(n);
  return n < 1e6 ? (n / 1000).toFixed(n < 1e5 ? 1 : 0) + 'k' : (n / 1e6).toFixed(2) + 'M';
}

/** size writes bytes. @param {number} n */
function size(n) {
  if (n < 1024) return n + ' bytes';
  return n < 1 << 20 ? (n / 1024).toFixed(1) + ' KiB' : (n / (1 << 20)).toFixed(1) + ' MiB';
}

/** dollars writes micro-cents. @param {number} n */
function dollars(n) {
  const d = n / 1e8;
  return '$' + (d < 0.01 ? d.toFixed(4) : d.toFixed(2));
}

/** lasting writes milliseconds. @param {number} ms */
function lasting(ms) {
  if (ms < 1000) return Math.max(0, Math.round(ms)) + ' ms';
  if (ms < 60000) return (ms / 1000).toFixed(1) + ' s';
  const s = Math.round(ms / 1000);
  const parts = s < 3600 ? [Math.floor(s / 60) + ' min', s % 60 + ' s'] : [Math.floor(s / 3600) + ' h', Math.floor(s / 60) % 60 + ' min'];
  return parts.filter(p => !p.startsWith('0 ')).join(' ');
}

/** plural writes n things. @param {number} n @param {string} one @param {string} [many] */
const plural = (n, one, many) => amount(n) + ' ' + (n === 1 ? one : many || one + 's');

/** stamp writes a time of the clock here. @param {number} t */
function stamp(t) {
  return new Date(t).toLocaleString('en', { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hour12: false });
}

/** own returns what an object itself has under a key that comes from a session.
 * @template T @param {Record<string, T>} o @param {string} key @returns {T | undefined} */
const own = (o, key) => (Object.hasOwn(o, key) ? o[key] : undefined);

/** by finds an element of ours. @param {string} id @returns {any} */
const by = id => document.getElementById(id);
