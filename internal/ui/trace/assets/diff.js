// @ts-check
// Changes as unified diffs.

/** isDiff reports whether text is one. @param {string} text */
const isDiff = text => /^--- .*\n\+\+\+ .*\n@@/m.test(text) || /^@@ -\d/m.test(text);

const diffLines = 400; // shown at once

/** diff shows a unified diff, a line of it on a line. @param {string} text */
function diff(text) {
  const lines = text.replace(/\n$/, '').split('\n');
  const box = el('div.diff', { role: 'group', 'aria-label': 'change', tabindex: '0', dir: 'ltr' });
  let at = 0;
  const rest = el('button.plain.rest', { on: { click: () => more(4000) } });
  const all = el('div', {}, box, rest);
  let old = 0, now = 0, body = false;
  /** @param {number} n */
  const more = n => {
    for (const line of lines.slice(at, at + n)) {
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
      let kind = 'same', left = '', right = '';
      if (hunk) {
        [kind, old, now, body] = ['hunk', Number(hunk[1]), Number(hunk[2]), true];
      } else if (!body || /^(diff|index) /.test(line)) kind = 'about';
      else if (line.startsWith('--- ') && !old) kind = 'about';
      else if (line[0] === '+') [kind, right] = ['added', String(now++)];
      else if (line[0] === '-') [kind, left] = ['removed', String(old++)];
      else if (line[0] === '\\') kind = 'about';
      else [left, right] = [String(old++), String(now++)];
      box.append(el('div.' + kind, {}, el('span.no', { 'aria-hidden': 'true' }, left), el('span.no', { 'aria-hidden': 'true' }, right), el('span.line', { pre: line || ' ' })));
    }
    at = Math.min(lines.length, at + n);
    if (at < lines.length) rest.replaceChildren(`Show more: ${plural(lines.length - at, 'line')} left`);
    else rest.remove();
  };
  more(diffLines);
  return all;
}

/** edits lists what a call changed, as it was done. @param {any[]} list */
function edits(list) {
  return el('ul.plainlist', {}, list.map(e => el('li', {}, code(e.path), ' ',
    e.remove ? 'removed' : !e.base ? 'created' : 'changed',
    e.regions?.length ? `, ${plural(e.regions.length, 'region')}` : '',
    e.mode ? `, mode ${e.mode}` : '',
    e.inexact ? `, matched ${e.inexact}` : '',
    ' ', el('span.quiet', {}, [e.base && 'from ' + e.base.slice(0, 8), e.result && 'to ' + e.result.slice(0, 8)].filter(Boolean).join(' ')))));
}
