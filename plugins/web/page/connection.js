// @ts-check
/** The socket to the gateway: calls with answers, events, and a state that is always known. Redials by itself. */

/**
 * @typedef {{ phase: 'connecting' | 'open' } | { phase: 'waiting', why: string, retryAt: number } | { phase: 'refused', why: string }} LinkState
 * @typedef {import('../../events/contract.ts').LiveEvent} LiveEvent
 */

/** What a call ended with; `code` is the gateway's, or CONNECTION_LOST where no answer came. */
export class CallError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const firstDelayMs = 250;
const longestDelayMs = 8000;
const answerMs = 30_000;
const pingMs = 4000;

/**
 * @param {{ token: string, onState: (state: LinkState) => void, onEvent: (event: LiveEvent) => void }} options
 */
export function openConnection({ token, onState, onEvent }) {
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: CallError) => void }>} */
  const calls = new Map();
  /** @type {WebSocket | undefined} */
  let socket;
  /** @type {LinkState} */
  let state = { phase: 'connecting' };
  let failures = 0;
  let lastId = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let redial;

  /** @param {LinkState} next */
  function become(next) {
    state = next;
    onState(next);
  }

  function dial() {
    clearTimeout(redial);
    if (failures === 0) become({ phase: 'connecting' });
    const dialled = new WebSocket(socketUrl(), ['instar', `instar.token.${base64url(token)}`]);
    socket = dialled;
    dialled.onopen = () => {
      failures = 0;
      become({ phase: 'open' });
    };
    dialled.onmessage = ({ data }) => receive(String(data));
    dialled.onclose = () => dialled === socket && void lost();
  }

  /** @param {string} text */
  function receive(text) {
    const frame = JSON.parse(text);
    if (frame.event === 'live') return onEvent(frame.data);
    const waiting = calls.get(frame.id);
    calls.delete(frame.id);
    if (frame.ok) return waiting?.resolve(frame.result);
    return waiting?.reject(new CallError(frame.error?.code ?? 'UNKNOWN', frame.error?.message ?? 'no reason was given'));
  }

  async function lost() {
    socket = undefined;
    for (const waiting of calls.values()) waiting.reject(connectionLost());
    calls.clear();
    failures += 1;
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    become({ phase: 'waiting', why: 'Connection lost', retryAt: Date.now() + delay });
    redial = setTimeout(dial, delay);
    const refusal = await whyRefused(token);
    if (socket || state.phase !== 'waiting') return;
    if (refusal.final) {
      clearTimeout(redial);
      become({ phase: 'refused', why: refusal.why });
    } else become({ ...state, why: refusal.why });
  }

  /** Back in sight or online: dial now, and do not trust a socket that may have died in its sleep. */
  async function wake() {
    if (state.phase === 'waiting') return dial();
    if (state.phase !== 'open' || document.hidden) return;
    const checked = socket;
    await call('approvals.list', {}, pingMs).catch((/** @type {CallError} */ error) => {
      if (error.code !== 'CALL_TIMEOUT' || socket !== checked) return;
      checked?.close();
      void lost();
    });
  }

  /**
   * @param {string} method @param {Record<string, unknown>} [params] @param {number} [timeoutMs]
   * @returns {Promise<any>}
   */
  function call(method, params = {}, timeoutMs = answerMs) {
    if (socket?.readyState !== WebSocket.OPEN) return Promise.reject(connectionLost());
    const id = ++lastId;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => {
      const late = () => {
        calls.delete(id);
        reject(new CallError('CALL_TIMEOUT', `the gateway did not answer ${method} within ${timeoutMs / 1000} s`));
      };
      const timer = setTimeout(late, timeoutMs);
      const settled = () => clearTimeout(timer);
      calls.set(id, {
        resolve: (value) => (settled(), resolve(value)),
        reject: (error) => (settled(), reject(error)),
      });
    });
  }

  document.addEventListener('visibilitychange', () => void wake());
  addEventListener('online', () => void wake());
  dial();
  return { call, retryNow: () => state.phase === 'waiting' && dial() };
}

/** @typedef {ReturnType<typeof openConnection>} Connection */

/** A browser does not tell why a WebSocket failed; plain HTTP does. @param {string} token */
async function whyRefused(token) {
  try {
    const answer = await fetch('/access', { headers: { authorization: `Bearer ${token}` }, cache: 'no-store' });
    if (answer.status === 401 || answer.status === 403) return { final: true, why: 'This token was not accepted.' };
    if (answer.status === 429) return { final: false, why: 'Too many attempts for now' };
    return { final: false, why: 'Connection lost' };
  } catch {
    return { final: false, why: `No gateway answers at ${location.host}` };
  }
}

const connectionLost = () => new CallError('CONNECTION_LOST', 'the connection to the gateway was lost');

function socketUrl() {
  const url = new URL('/ws?client=page', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

/** @param {string} text */
function base64url(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
