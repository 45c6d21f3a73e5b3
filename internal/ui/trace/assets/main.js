// @ts-check
// The page as a whole.

/** head says what the session was, in two lines. */
function head() {
  const first = rows.find(r => r.k === 'asked');
  const opened = rows.find(r => r.k === 'opened');
  const stops = rows.filter(r => r.k === 'stopped');
  const last = stops[stops.length - 1];
  const counts = { failed: 0, denied: 0, unknown: 0, interrupted: 0, open: 0, ok: 0 };
  for (const c of calls.values()) counts[outcome(c)]++;
  const [tokensIn, tokensOut, cost] = spent;
  by('goal').replaceChildren(show(first?.l || (rows.length ? 'Nothing was asked' : 'No events yet'), true));
  const end = !last || openTurn(last) ? ['cut', 'not ended'] : last.u === 'end' ? ['ok', 'done'] : ['failed', last.u || ''];
  const parts = [
    el('span.tag.' + end[0], {}, end[1]),
    plural(turns.length, 'turn'), plural(steps.length, 'step'), plural(calls.size, 'call'),
    counts.failed ? el('span.failed', {}, `${amount(counts.failed)} failed`) : null,
    counts.denied ? el('span.denied', {}, `${amount(counts.denied)} denied`) : null,
    counts.unknown ? el('span.unknown', {}, `${amount(counts.unknown)} unknown`) : null,
    counts.interrupted ? el('span.interrupted', {}, `${amount(counts.interrupted)} interrupted`) : null,
    tokensIn + tokensOut ? `${tokens(tokensIn)} tokens in, ${tokens(tokensOut)} out` : null,
    cost ? dollars(cost) : null,
    rows.length ? lasting(rows[rows.length - 1].t - rows[0].t) : null,
    rows.length ? el('time', {}, new Date(rows[0].t).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short', hour12: false })) : null,
    opened?.d ? code(opened.d) : null,
    opened?.l ? code(opened.l) : null,
    code(meta.session),
  ].filter(x => x !== null);
  by('about').replaceChildren(...parts.flatMap(p => [el('span.item', {}, p), ' ']));
  notices();
}

/** openTurn reports whether the user spoke after the last stop. @param {Row} last */
function openTurn(last) {
  for (let i = rows.length - 1; i >= 0 && rows[i] !== last; i--) if (rows[i].k === 'asked') return true;
  return false;
}

/** notices says what is missing. */
function notices() {
  const out = [];
  if (meta.redacted) out.push(el('p.notice', {}, 'Made for others: words, contents and commands are only sizes and digests here. Equal digests are equal texts.'));
  for (const d of (meta.damage || []).slice(0, 5)) out.push(el('p.notice.bad', {}, 'The session is damaged: ', d));
  if (meta.left?.length) {
    out.push(fold([`Not all is in this file: ${plural(meta.left.length, 'text')} of the session ${meta.left.length === 1 ? 'is' : 'are'} cut or left out`],
      () => el('ul.plainlist', {}, (meta.left || []).slice(0, 200).map(l => el('li', {}, l.what, l.event && rowOf.has(l.event) ? [' of ', link(/** @type {number} */ (rowOf.get(l.event)))] : '', `: ${size(l.bytes)} (${l.why})`))), false, 'notice'));
  }
  by('notices').replaceChildren(...out);
}

function main() {
  readPage();
  grow();
  buildFilters();
  buildList();
  buildDetail();
  buildLanes();
  buildFiles();
  buildKeys();
  head();
  options();
  choose();
  view('walk');
  if (!fromAddress() && entries.length) go(entries[0].frame, { quiet: true });
  refilter();
  if (!rows.length) by('detail').replaceChildren(el('div.empty', {}, el('p', {}, 'This session has no events yet.')));
  document.body.classList.add('ready');
  performance.mark('ready');
  follow();
}
