// @ts-check
// A session that is still running: what comes is added at the end.

function follow() {
  if (document.body.dataset.form !== 'live') return;
  state.follow = true;
  const source = new EventSource('events');
  const say = /** @param {string} text @param {string} tone */ (text, tone) => {
    by('live').className = tone;
    by('live').replaceChildren(text);
  };
  say('connecting', 'quiet');
  source.onopen = () => say('live', 'ok');
  source.onerror = () => say(source.readyState === EventSource.CLOSED ? 'closed' : 'not connected', 'failed');
  source.onmessage = e => {
    const c = JSON.parse(e.data);
    const atEnd = here() < 0 || here() >= entries.length - 1;
    if (c.rows?.length) addRows(c.rows, null, c.bodies);
    for (const [digest, value] of Object.entries(c.artifacts || {})) fetched.set(digest, value);
    if (c.meta) meta = c.meta;
    grow();
    files.made = -1;
    head();
    options();
    refilter();
    if (frameList.length && atEnd && entries.length) {
      const last = entries[entries.length - 1];
      go(last.frame, { row: last.row, quiet: true });
    } else if (frameList.length) go(state.frame, { row: state.row, quiet: true });
  };
}
