// @ts-check
/**
 * Keeps the open session's log in step with the gateway: stored entries first, then every event after their cursor.
 * The same way serves the first load, a switch of session, a refresh in mid-stream and a lost socket.
 */

/**
 * @typedef {import('../../events/contract.ts').LiveEvent} LiveEvent
 * @typedef {import('./connection.js').CallError} CallError
 * @param {{
 *   call: import('./connection.js').Connection['call'],
 *   log: import('./chat-log.js').ChatLog,
 *   onGlobal: (event: LiveEvent) => void,
 *   onSynced: () => void,
 *   onFailed: (error: CallError) => void,
 * }} options
 */
export function createFeed({ call, log, onGlobal, onSynced, onFailed }) {
  let sessionKey = '';
  let epoch = 0;
  let isSynced = false;
  let isSettling = false;
  let globalCursor = '';

  async function sync() {
    const mine = ++epoch;
    const asked = sessionKey;
    isSynced = false;
    // Old frames stop first: what arrives after this answer belongs to the watch below, in order and complete.
    void call('events.stop').catch(() => undefined); // nothing was watched yet
    for (let tries = 0; tries < 3; tries += 1) {
      const history = await call('sessions.history', { sessionKey: asked });
      if (mine !== epoch) return;
      isSettling = true;
      log.load(history.entries, runningOf(history.active));
      isSynced = true;
      const { missed } = await call('events.watch', { after: history.cursor });
      if (mine !== epoch) return;
      isSettling = false;
      if (!missed) return onSynced();
      isSynced = false;
      await call('events.stop');
    }
    throw Object.assign(new Error('events are lost faster than the page can read them'), { code: 'EVENTS_LOST' });
  }

  return {
    /** True between the stored part and the replay: nothing should be drawn of what is only half there. */
    get isSettling() {
      return isSettling;
    },
    /** @param {string} key */
    open(key) {
      sessionKey = key;
      log.clear();
      this.resync();
    },
    resync() {
      sync().catch((error) => {
        isSettling = false;
        if (error.code !== 'CONNECTION_LOST') onFailed(error);
      });
    },
    /** @param {LiveEvent} event */
    receive(event) {
      // The gateway dropped events that this page was too slow to take.
      if (event.type === 'missed') return this.resync();
      if (event.sessionKey === sessionKey && isSynced) log.apply(event);
      // A watch begins in the past: what concerns the whole page is taken once.
      if (!isAfter(event.cursor, globalCursor)) return undefined;
      globalCursor = event.cursor;
      return onGlobal(event);
    },
  };
}

/** What waits is active too. @param {readonly (import('./chat-log.js').Running & { state: string })[]} active */
const runningOf = (active) => active.find(({ state }) => state === 'running');

/** `<boot>.<n>`: another boot counts as later. @param {string} cursor @param {string} other */
function isAfter(cursor, other) {
  const [boot, n] = split(cursor);
  const [otherBoot, m] = split(other);
  return boot !== otherBoot || n > m;
}

/** @param {string} cursor @returns {[string, number]} */
function split(cursor) {
  const dot = cursor.lastIndexOf('.');
  return [cursor.slice(0, dot), Number(cursor.slice(dot + 1))];
}
