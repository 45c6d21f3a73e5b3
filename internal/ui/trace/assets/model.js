// @ts-check
// What the events amount to: turns, steps, calls, and the frames that a reader
// walks through. It only ever grows, so that a live session can be followed.

/** A Frame is what is looked at at a time.
 * @typedef {{kind: 'fact' | 'step' | 'call', at: number, rows: number[], call?: Call, step?: Step}} Frame */

/** @typedef {{n: number, turn: number, no: number, packed: number[], sent: number[], replied: number, calls: Call[], frame: number,
 * in: number, cached: number, out: number, cost: number, guess: boolean, model: string, sums: number[]}} Step */

/** @typedef {{id: string, tool: string, line: string, step: Step | null, frame: number, planned: number[], decided: number[], started: number,
 * finished: number, settled: number, paths: string[], waits: string[], asked: number}} Call */

/** @type {Frame[]} */
const frameList = [];
/** @type {Step[]} */
const steps = [];
/** @type {Map<string, Call>} */
const calls = new Map();
/** @type {Map<string, Call[]>} */
const touched = new Map(); // by file
/** @type {number[]} */
const frameOf = []; // by row
/** @type {Map<string, number>} */
const toolsUsed = new Map();
/** @type {number[]} */
const turns = []; // frames in which the user speaks and a turn begins

/** Records of the journal that say nothing about the work. */
const OWN = new Set(['chain', 'session.close']);

/** @type {Step | null} */
let openStep = null;
let spent = [0, 0, 0]; // tokens in and out, and cost
let grown = 0; // rows that are in frames

function grow() {
  for (; grown < rows.length; grown++) add(grown, rows[grown]);
}

/** @param {number} i @param {Row} r */
function add(i, r) {
  switch (r.k) {
    case 'packed': case 'sent': {
      if (r.u) break; // not for a step
      const s = openStep || begin(i, r);
      (r.k === 'sent' ? s.sent : s.packed).push(i);
      if (r.d) s.model = r.d;
      join(s.frame, i);
      return;
    }
    case 'replied': {
      const s = openStep || begin(i, r);
      openStep = null;
      s.replied = i;
      [s.in, s.cached, s.out, s.cost, s.guess] = [r.i || 0, r.h || 0, r.z || 0, r.m || 0, !!r.e];
      spent = s.sums = [spent[0] + s.in, spent[1] + s.out, spent[2] + s.cost];
      join(s.frame, i);
      for (const c of r.cs || []) s.calls.push(call(c.id, c.o, c.l || '', s, i));
      return;
    }
    case 'planned': case 'decided': case 'started': case 'finished': case 'settled': {
      const c = calls.get(r.c || '') || call(r.c || '', r.o || '', r.l || '', null, i);
      join(c.frame, i);
      if (r.k === 'planned') {
        c.planned.push(i);
        if (r.l) c.line = r.l;
      } else if (r.k === 'decided') c.decided.push(i);
      else c[r.k] = i;
      if (r.w) c.waits = r.w;
      for (const p of r.p || []) about(c, p);
      return;
    }
  }
  if (r.k === 'opened' || r.k === 'stopped') openStep = null;
  if (r.k === 'compacted') spent = [spent[0] + (r.i || 0), spent[1] + (r.z || 0), spent[2] + (r.m || 0)];
  frameList.push({ kind: 'fact', at: i, rows: [i] });
  frameOf[i] = frameList.length - 1;
  if (r.k === 'asked' && (!turns.length || rows[frameList[turns[turns.length - 1]].at].n !== r.n)) turns.push(frameList.length - 1);
}

/** @param {number} i @param {Row} r @returns {Step} */
function begin(i, r) {
  openStep = { n: steps.length + 1, turn: r.n || 0, no: r.s || 0, packed: [], sent: [], replied: -1, calls: [], frame: frameList.length,
    in: 0, cached: 0, out: 0, cost: 0, guess: false, model: '', sums: [0, 0, 0] };
  steps.push(openStep);
  frameList.push({ kind: 'step', at: i, rows: [], step: openStep });
  return openStep;
}

/** @param {string} id @param {string} tool @param {string} line @param {Step | null} step @param {number} asked @returns {Call} */
function call(id, tool, line, step, asked) {
  const c = { id, tool, line, step, frame: frameList.length, planned: [], decided: [], started: -1, finished: -1, settled: -1, paths: [], waits: [], asked };
  calls.set(id, c);
  toolsUsed.set(tool, (toolsUsed.get(tool) || 0) + 1);
  frameList.push({ kind: 'call', at: asked, rows: [], call: c });
  return c;
}

/** @param {number} frame @param {number} i */
function join(frame, i) {
  frameList[frame].rows.push(i);
  frameOf[i] = frame;
}

/** @param {Call} c @param {string} path */
function about(c, path) {
  if (c.paths.includes(path)) return;
  c.paths.push(path);
  const all = touched.get(path);
  if (all) all.push(c);
  else touched.set(path, [c]);
}

/** outcome says how a call ended.
 * @param {Call} c @returns {'ok' | 'failed' | 'denied' | 'unknown' | 'interrupted' | 'open'} */
function outcome(c) {
  if (c.finished < 0) return 'open';
  const r = rows[c.finished];
  if (r.f === 'denied' || r.f === 'needs_approval') return 'denied';
  switch (r.u) {
    case 'success': case 'partial': return 'ok';
    case 'unknown': return 'unknown';
    case 'interrupted': return 'interrupted';
  }
  return 'failed';
}

const OUTCOMES = {
  ok: ['✓', 'done'], failed: ['✗', 'failed'], denied: ['⊘', 'denied'], unknown: ['?', 'unknown'],
  interrupted: ['◌', 'interrupted'], open: ['…', 'no result'],
};

/** called is how a call ended, as exactly as a word can say it. @param {Call} c */
function called(c) {
  const o = outcome(c);
  return (o === 'failed' || o === 'denied') && rows[c.finished].f || OUTCOMES[o][1];
}

/** trouble says what is wrong in a frame, '' if nothing is. @param {Frame} f */
function trouble(f) {
  if (f.call) {
    const o = outcome(f.call);
    return o === 'ok' ? '' : o;
  }
  if (f.step) {
    if (f.step.replied < 0) return f === frameList[frameList.length - 1] ? '' : 'failed';
    const stop = rows[f.step.replied].u;
    return stop === 'end' || stop === 'calls' ? '' : 'failed';
  }
  const r = rows[f.at];
  if (r.k === 'damage' || r.x || r.k === 'quarantined') return 'failed';
  if (r.k === 'stopped') return r.u === 'end' ? '' : 'failed';
  return '';
}

/** took returns how long a frame lasted, in milliseconds, -1 if that is not known.
 * @param {Frame} f */
function took(f) {
  if (f.call) {
    const c = f.call;
    return c.finished < 0 || c.started < 0 || outcome(c) === 'unknown' ? -1 : rows[c.finished].t - rows[c.started].t;
  }
  if (f.step) return f.step.replied < 0 || !f.step.sent.length ? -1 : rows[f.step.replied].t - rows[f.step.sent[0]].t;
  return -1;
}

/** soFar returns what the session had cost when a frame began, the step that the
 * frame is included.
 * @param {number} frame */
function soFar(frame) {
  let low = 0, high = steps.length; // the first step behind it
  while (low < high) {
    const mid = (low + high) >> 1;
    if (steps[mid].frame <= frame) low = mid + 1;
    else high = mid;
  }
  const at = steps[low - 1];
  let said = low - 1; // the newest that was answered
  while (said >= 0 && steps[said].replied < 0) said--;
  const s = steps[said];
  return { in: s?.sums[0] || 0, out: s?.sums[1] || 0, cost: s?.sums[2] || 0, steps: low, fill: s?.in || 0, model: s?.model || '', no: at?.no || 0, turn: at?.turn || 0 };
}

/** word is a frame in a few words.
 * @param {Frame} f @returns {{sign: string, tone: string, head: string, text: string}} */
function word(f) {
  if (f.call) {
    const o = outcome(f.call);
    const c = f.call;
    const first = c.line.split(' ')[0];
    const text = first.toLowerCase() === c.tool.toLowerCase() ? c.line.slice(first.length + 1) : c.line;
    return { sign: OUTCOMES[o][0], tone: o, head: c.tool, text };
  }
  if (f.step) {
    const s = f.step;
    const r = s.replied < 0 ? null : rows[s.replied];
    if (!r) return { sign: '◆', tone: 'model', head: `Step ${s.no}`, text: 'no reply was recorded' };
    const more = r.l ? r.l : s.calls.length ? 'asks for ' + plural(s.calls.length, 'call') : 'says nothing';
    return { sign: '◆', tone: 'model', head: `Step ${s.no}`, text: more };
  }
  const r = rows[f.at];
  switch (r.k) {
    case 'asked': return { sign: '●', tone: 'user', head: 'You', text: r.l || '' };
    case 'opened': return { sign: '○', tone: 'fact', head: f === frameList[0] ? 'Opened' : 'Resumed', text: [r.d, r.u && 'mode ' + r.u].filter(Boolean).join(', ') };
    case 'ruled': return { sign: '§', tone: 'fact', head: 'Rules', text: r.l || '' };
    case 'sent': return { sign: '◇', tone: 'model', head: 'Request', text: r.u === 'handoff' ? 'for a handoff, so that the context can be made shorter' : `for ${r.u}` };
    case 'stopped': return { sign: '■', tone: r.u === 'end' ? 'fact' : 'failed', head: r.u === 'end' ? 'Done' : 'Stopped', text: [r.u === 'end' ? '' : r.u, r.l].filter(Boolean).join(': ') };
    case 'compacted': return { sign: '⇊', tone: 'warn', head: 'Compacted', text: r.u ? 'set off by ' + r.u : '' };
    case 'constrained': return { sign: '!', tone: 'warn', head: 'Constraint', text: r.l || '' };
    case 'quarantined': return { sign: '⊘', tone: 'failed', head: 'Quarantined', text: r.l || '' };
    case 'switched': return { sign: '⇄', tone: 'warn', head: 'Switched model', text: [r.d, r.l].filter(Boolean).join(': ') };
    case 'log.repaired': return { sign: '✂', tone: 'warn', head: 'Repaired', text: 'a torn end of the log was cut off after a crash' };
    case 'redaction.note': return { sign: '▒', tone: 'fact', head: 'Redacted', text: 'secrets were taken out on the way to disk' };
    case 'damage': return { sign: '✗', tone: 'failed', head: 'Damage', text: r.l || '' };
  }
  return { sign: '·', tone: 'fact', head: r.k, text: r.l || '' };
}
