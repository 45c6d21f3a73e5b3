// @ts-check
// Which frames are shown.

const filter = { words: '', only: '', tool: '', file: '', every: false };

/** @type {{id: string, label: string, key?: string, fits: (f: Frame) => boolean}[]} */
const KINDS = [
  { id: 'trouble', label: 'Problems', fits: f => trouble(f) !== '' },
  { id: 'failed', label: 'Failed', fits: f => trouble(f) === 'failed' },
  { id: 'denied', label: 'Denied', fits: f => trouble(f) === 'denied' },
  { id: 'unknown', label: 'Unknown', fits: f => ['unknown', 'interrupted', 'open'].includes(trouble(f)) },
  { id: 'waited', label: 'Waited', fits: f => !!f.call && f.call.waits.length > 0 },
  { id: 'changes', label: 'Changes', fits: f => !!f.call && changes(f.call) },
  { id: 'memory', label: 'Memory', fits: f => ['compacted', 'constrained', 'quarantined', 'switched', 'ruled'].includes(rows[f.at].k) },
];

/** changes reports whether a call changed files. @param {Call} c */
function changes(c) {
  return c.finished >= 0 && (rows[c.finished].p || []).length > 0;
}

/** An Entry is a line of the list: a frame, or one of its events.
 * @typedef {{frame: number, row: number}} Entry */

/** @type {Entry[]} */
let entries = [];

function choose() {
  const words = filter.words.trim();
  const hits = words ? found(words) : null;
  const kind = KINDS.find(k => k.id === filter.only);
  entries = [];
  frameList.forEach((f, n) => {
    if (!filter.every && f.kind === 'fact' && OWN.has(rows[f.at].k)) return;
    if (kind && !kind.fits(f)) return;
    if (filter.tool && f.call?.tool !== filter.tool) return;
    if (filter.file && !(f.call?.paths.includes(filter.file) || (rows[f.at].p || []).includes(filter.file) && f.kind === 'fact')) return;
    const own = f.rows.length ? f.rows : [f.at];
    if (hits && !own.some(i => hits.has(i)) && !(f.call && word(f).text.toLowerCase().includes(words.toLowerCase()))) return;
    if (!filter.every) entries.push({ frame: n, row: -1 });
    else for (const i of f.rows) if (!hits || hits.has(i)) entries.push({ frame: n, row: i });
  });
  if (filter.every) entries.sort((a, b) => a.row - b.row);
}
