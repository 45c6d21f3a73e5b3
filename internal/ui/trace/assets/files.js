// @ts-check
// The files that calls changed: each change in order, and whose each line is now.

const files = { chosen: '', made: -1 };

function buildFiles() {
  onMove.push(() => state.view === 'files' && drawFiles());
}

/** changedFiles returns the calls that changed each file, in order. */
function changedFiles() {
  /** @type {Map<string, Call[]>} */
  const out = new Map();
  for (const c of calls.values()) {
    if (c.finished < 0) continue;
    for (const p of rows[c.finished].p || []) {
      const all = out.get(p);
      if (all) all.push(c);
      else out.set(p, [c]);
    }
  }
  return out;
}

function drawFiles() {
  if (files.made === rows.length) return;
  files.made = rows.length;
  const all = changedFiles();
  const box = by('files');
  if (!all.size) {
    box.replaceChildren(el('div.empty', {}, el('p', {}, 'No file was changed in this session.')));
    return;
  }
  const names = [...all.keys()].sort();
  if (!all.has(files.chosen)) files.chosen = names[0];
  const nav = el('nav.filelist', { 'aria-label': 'Changed files' }, names.map(p => el('button.file', {
    'aria-current': p === files.chosen ? 'true' : null, on: { click: () => { files.chosen = p; files.made = -1; drawFiles(); } },
  }, el('span', { dir: 'ltr' }, p), el('span.quiet', {}, plural(/** @type {Call[]} */ (all.get(p)).length, 'change')))));
  box.replaceChildren(nav, el('div.history', {}, fileHistory(files.chosen, /** @type {Call[]} */ (all.get(files.chosen)))));
}

/** @param {string} path @param {Call[]} changes */
function fileHistory(path, changes) {
  return [
    el('h2', {}, code(path)),
    owners(path),
    ...changes.map(c => {
      const plan = c.planned.length ? body(c.planned[c.planned.length - 1]).plan : null;
      const result = body(c.finished).result || {};
      const mine = (result.edits || []).filter((/** @type {any} */ e) => e.path === path);
      let preview = plan?.preview || '';
      if (/^artifact:/.test(preview)) preview = artifact(preview)?.text || '';
      const own = ownDiff(preview, path);
      return el('section.part', {},
        el('h3', {}, link(frameList[c.frame].rows[0], c.id + ' ' + c.tool), ' ', el('span.quiet', {}, [rows[c.finished].n && `turn ${rows[c.finished].n}`, c.step && `step ${c.step.no}`].filter(Boolean).join(', '))),
        own ? diff(own) : null,
        edits(mine),
        own ? null : el('p.quiet', {}, plan && !isDiff(preview) ? 'A command made it: the bytes are kept for undo only, not in the trace.' : 'The text of the change is not in this trace.'));
    }),
  ];
}

/** ownDiff returns what of a diff is about path. @param {string} text @param {string} path */
function ownDiff(text, path) {
  if (!isDiff(text)) return '';
  const parts = text.split(/^(?=--- )/m).filter(p => /^--- /.test(p));
  if (parts.length < 2) return text;
  return parts.filter(p => p.split('\n', 2).some(line => line.endsWith('/' + path) || line.endsWith(' ' + path))).join('') || text;
}

/** owners shows whose each line is. @param {string} path */
function owners(path) {
  const spans = own(meta.owners, path);
  if (!spans) {
    const why = own(meta.unowned || {}, path);
    return why ? section('Whose it is now', el('p.quiet', {}, 'Not known: ' + why)) : null;
  }
  if (!spans.length) return section('Whose it is now', el('p.quiet', {}, 'The file is empty, or gone.'));
  const n = spans[spans.length - 1].last;
  const bar = el('div.owners', { 'aria-hidden': 'true' }, spans.map(s => {
    const e = el('span.' + owner(s.by));
    e.style.flexGrow = String(s.last - s.first + 1);
    return e;
  }));
  /** @type {Record<string, number>} */
  const sum = {};
  for (const s of spans) sum[owner(s.by)] = (sum[owner(s.by)] || 0) + s.last - s.first + 1;
  const notable = spans.filter(s => s.by !== 'baseline');
  return section('Whose it is now', bar,
    el('p.legend', {}, Object.entries(sum).map(([k, v]) => [el('span.key.' + k, { 'aria-hidden': 'true' }), ` ${OWNERS[k]}: ${plural(v, 'line')} of ${amount(n)}  `]).flat()),
    notable.length ? fold(plural(notable.length, 'stretch', 'stretches') + ' that are not as they were found', () => el('ul.plainlist', {}, notable.map(s => el('li', {}, s.first === s.last ? `line ${s.first}` : `lines ${s.first} to ${s.last}`, ': ', s.by === 'agent' ? callLink(s.call || '') : OWNERS[owner(s.by)])))) : null);
}

/** @type {Record<string, string>} */
const OWNERS = { baseline: 'as it was found', user: 'someone else', agent: 'the agent' };

/** @param {string} by */
const owner = by => (Object.hasOwn(OWNERS, by) ? by : 'user');
