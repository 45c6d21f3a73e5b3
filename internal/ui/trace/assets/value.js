// @ts-check
// Values as they are: long text a piece at a time, JSON as a tree, artifacts.

const piece = 12000; // characters that are shown at once

/** block shows text on lines of its own. @param {string} text @param {string} [kind] */
function block(text, kind) {
  const pre = el('pre.' + (kind || 'plain'), { dir: 'ltr', tabindex: '0' });
  if (text.length <= piece) {
    pre.append(show(text));
    return pre;
  }
  let at = 0;
  const rest = el('button.plain.rest', { on: { click: () => more(piece * 10) } });
  /** @param {number} n */
  const more = n => {
    let to = Math.min(text.length, at + n);
    if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1])) to++;
    pre.append(show(text.slice(at, to)));
    at = to;
    if (at < text.length) rest.replaceChildren(`Show more: ${amount(text.length - at)} of ${amount(text.length)} characters are left`);
    else rest.remove();
  };
  more(piece);
  return el('div', {}, pre, rest);
}

/** fold shows something only once it is opened.
 * @param {Child | Child[]} head @param {() => Child | Child[]} make @param {boolean} [open] @param {string} [kind] */
function fold(head, make, open, kind) {
  const d = el('details' + (kind ? '.' + kind : ''), {}, el('summary', {}, head));
  let made = false;
  const fill = () => {
    if (made) return;
    made = true;
    d.append(...[make()].flat().filter(c => c !== null && c !== undefined && c !== false).map(c => typeof c === 'object' ? c : show(String(c), true)));
  };
  d.addEventListener('toggle', () => d.open && fill());
  if (open) {
    fill();
    d.open = true;
  }
  return d;
}

/** tree shows any value, so that nothing recorded is hidden.
 * @param {any} v @param {number} [depth] @returns {Child} */
function tree(v, depth = 0) {
  if (v === null || typeof v !== 'object') {
    if (typeof v === 'string') {
      if (/^artifact:[0-9a-f]{64}$/.test(v)) return artifactView(v);
      return v.length > 120 || v.includes('\n') ? block(v) : code(v);
    }
    return el('code.num', {}, String(v));
  }
  if (Array.isArray(v) && v.length && v.length <= 24 && v.every(x => x === null || typeof x === 'number' || typeof x === 'boolean' || typeof x === 'string' && x.length <= 40 && !x.includes('\n') && !x.startsWith('artifact:'))) {
    return el('span', {}, v.flatMap((x, i) => [i ? ', ' : '', typeof x === 'string' ? code(x) : el('code.num', {}, String(x))]));
  }
  const pairs = Array.isArray(v) ? v.map((x, i) => [String(i), x]) : Object.entries(v);
  if (!pairs.length) return el('code.num', {}, Array.isArray(v) ? '[]' : '{}');
  const table = () => el('dl.tree', {}, pairs.flatMap(([k, x]) => [el('dt', {}, k), el('dd', {}, tree(x, depth + 1))]));
  if (depth > 1 && pairs.length > 4) return fold(Array.isArray(v) ? plural(pairs.length, 'item') : plural(pairs.length, 'field'), table);
  return table();
}

/** artifactView shows what the trace has of an artifact.
 * @param {string} handle @param {{type?: string, bytes?: number, lines?: number}} [about] */
function artifactView(handle, about = {}) {
  const digest = handle.replace(/^artifact:/, '');
  const head = [code('artifact ' + digest.slice(0, 12)), about.bytes !== undefined ? ` ${size(about.bytes)}` : '', about.lines ? `, ${plural(about.lines, 'line')}` : '', about.type ? `, ${about.type}` : ''];
  return fold(head, () => {
    const a = artifact(handle);
    if (!a) return el('p.quiet', {}, meta.redacted ? 'Left out: this trace is for others.' : 'This trace does not have it.');
    if (a.base64 && a.type) {
      const img = document.createElement('img');
      img.alt = 'the picture in the artifact';
      if (/^image\/(png|jpeg|gif|webp)$/.test(a.type)) img.src = `data:${a.type};base64,${a.base64}`;
      return img;
    }
    return [about.bytes === undefined ? el('p.quiet', {}, size(a.bytes)) : null, block(a.text || '', 'output')];
  });
}

/** pairs shows names with values; those without one are left out.
 * @param {...[string, Child | Child[]]} list */
function pairs(...list) {
  const some = list.filter(([, v]) => v !== null && v !== undefined && v !== '' && v !== false && !(Array.isArray(v) && !v.length));
  return some.length ? el('dl.pairs', {}, some.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])) : null;
}

/** section is a part of a frame. @param {string} title @param {...(Child | Child[])} children */
function section(title, ...children) {
  const some = children.flat().filter(c => c !== null && c !== undefined && c !== false && c !== '');
  return some.length ? el('section.part', {}, el('h3', {}, title), some) : null;
}

/** effectText writes an effect. @param {{kind: string, on?: string, tree?: boolean}} e */
const effectText = e => e.kind + (e.on ? ' ' + e.on + (e.tree ? '/**' : '') : '');
