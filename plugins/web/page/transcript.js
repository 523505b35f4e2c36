// @ts-check
/** Draws the log: at most once per frame, only rows that changed, and stays at the end while the reader is there. */
import { byId, h, place } from './element.js';
import { createRowView } from './message.js';

const firstRows = 80;
const moreRows = 200;

/** @param {import('./chat-log.js').ChatLog} log @param {() => readonly HTMLElement[]} afterRows What stands below the rows: unsent messages, a sign of work. */
export function createTranscript(log, afterRows) {
  const scroller = byId('div', 'scroll');
  const list = byId('div', 'transcript');
  const jump = byId('button', 'jump');
  const earlier = h('button', { type: 'button', class: 'quiet earlier' }, 'Show earlier messages');
  /** @type {Map<string, { view: import('./message.js').RowView, version: number, wantsMore: boolean }>} */
  let drawn = new Map();
  let limit = firstRows;
  let isFollowing = true;
  let lastTop = 0;
  let frame = 0;
  let runs = 0;

  earlier.onclick = () => {
    const below = scroller.scrollHeight - scroller.scrollTop;
    limit += moreRows;
    draw();
    scroller.scrollTop = scroller.scrollHeight - below;
  };
  jump.onclick = () => follow();

  scroller.addEventListener('scroll', () => {
    const distance = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (scroller.scrollTop < lastTop - 1 && distance > 8) isFollowing = false;
    else if (distance < 8) isFollowing = true;
    lastTop = scroller.scrollTop;
    jump.hidden = isFollowing || distance < 200;
  });
  new ResizeObserver(() => isFollowing && toEnd()).observe(scroller);

  function toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    lastTop = scroller.scrollTop;
    jump.hidden = true;
  }

  function follow() {
    isFollowing = true;
    toEnd();
  }

  function schedule() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }

  function draw() {
    const rows = log.rows.slice(-limit);
    // A turn that begins or ends changes how a call without a result reads.
    const turnNow = log.running ? 1 : 0;
    const isTurnChanged = turnNow !== runs;
    runs = turnNow;
    const nodes = rows.map((row) => drawRow(row, isTurnChanged));
    const shown = new Set(rows.map((row) => row.id));
    for (const id of drawn.keys()) if (!shown.has(id)) drawn.delete(id);
    place(list, [...(log.rows.length > rows.length ? [earlier] : []), ...nodes, ...afterRows()]);
    if (isFollowing) toEnd();
    if ([...drawn.values()].some((kept) => kept.wantsMore)) schedule();
  }

  /** @param {import('./chat-log.js').Row} row @param {boolean} isTurnChanged */
  function drawRow(row, isTurnChanged) {
    let kept = drawn.get(row.id);
    if (!kept) {
      kept = { view: createRowView(row, log), version: -1, wantsMore: false };
      drawn.set(row.id, kept);
    }
    if (kept.version !== row.version || kept.wantsMore || (isTurnChanged && row.kind === 'assistant')) {
      kept.version = row.version;
      kept.wantsMore = kept.view.update(row);
    }
    return kept.view.node;
  }

  return {
    schedule,
    follow,
    /** Another session, or Markdown has arrived: everything is drawn anew. */
    redraw() {
      drawn = new Map();
      schedule();
    },
    startAtEnd() {
      limit = firstRows;
      isFollowing = true;
      this.redraw();
    },
  };
}
