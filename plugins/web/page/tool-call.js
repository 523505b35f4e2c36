// @ts-check
/** One tool call, folded: its name, what it is about, how it stands. Arguments and result are drawn when it is opened. */
import { copyButton } from './code-block.js';
import { h, setText } from './element.js';
import { duration } from './format.js';
import { icon } from './icons.js';

/**
 * @typedef {Extract<import('./chat-log.js').Part, { kind: 'tool' }>} ToolPart
 * @typedef {import('./chat-log.js').ToolState} ToolState
 * @typedef {'writing' | 'waiting' | 'running' | 'ok' | 'error' | 'stopped'} Look
 */

const longestShown = 20_000;

/** @type {Record<Look, { label: string, icon?: import('./icons.js').IconName }>} */
const looks = {
  writing: { label: 'preparing' },
  waiting: { label: 'waiting' },
  running: { label: 'running' },
  ok: { label: 'done', icon: 'check' },
  error: { label: 'failed', icon: 'cross' },
  stopped: { label: 'stopped', icon: 'stop' },
};

export function createToolView() {
  const mark = h('span', { class: 'tool-mark' });
  const name = h('span', { class: 'tool-name' });
  const about = h('span', { class: 'tool-about' });
  const status = h('span', { class: 'tool-status' });
  const body = h('div', { class: 'tool-body' });
  const summary = h('summary', {}, mark, name, about, status, icon('chevron'));
  const node = h('details', { class: 'tool' }, summary, body);
  /** @type {{ part: ToolPart, state: ToolState | undefined } | undefined} */
  let shown;
  /** @type {Look | undefined} */
  let look;

  node.ontoggle = () => shown && drawBody(shown.part, shown.state);

  /** @param {ToolPart} part @param {ToolState | undefined} state */
  function drawBody(part, state) {
    if (!node.open) return body.replaceChildren();
    const result = state?.result ?? state?.partial;
    return body.replaceChildren(...argumentsOf(part), ...(result ? resultOf(result, state?.result === undefined) : []));
  }

  return {
    kind: /** @type {const} */ ('tool'),
    node,
    /** @param {ToolPart} part @param {ToolState | undefined} state @param {boolean} isStreaming @param {boolean} isRunning */
    update(part, state, isStreaming, isRunning) {
      shown = { part, state };
      const next = state?.state ?? (isStreaming ? 'writing' : isRunning ? 'waiting' : 'stopped');
      if (next !== look) {
        look = next;
        node.dataset['look'] = next;
        mark.replaceChildren(...(looks[next].icon ? [icon(looks[next].icon)] : []));
      }
      setText(name, part.name || 'tool');
      setText(about, aboutOf(part));
      setText(status, state?.ms === undefined || next === 'error' ? looks[next].label : duration(state.ms));
      drawBody(part, state);
    },
  };
}

const tellingNames = ['command', 'cmd', 'path', 'file', 'file_path', 'url', 'query', 'pattern', 'task', 'message', 'text'];

/** One line that says what the call is about. @param {ToolPart} part */
function aboutOf(part) {
  const args = argsOf(part);
  if (args === undefined) return oneLine(/"\w+"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(part.argsText)?.[1] ?? '');
  if (typeof args !== 'object' || args === null) return oneLine(JSON.stringify(args));
  const told = tellingNames.map((name) => /** @type {any} */ (args)[name]).find((value) => typeof value === 'string' && value);
  const first = Object.values(args).find((value) => typeof value === 'string' || typeof value === 'number');
  return oneLine(String(told ?? first ?? (Object.keys(args).length > 0 ? JSON.stringify(args) : '')));
}

/** @param {ToolPart} part @returns {unknown} */
function argsOf(part) {
  if (part.args !== undefined) return part.args;
  try {
    return JSON.parse(part.argsText);
  } catch {
    return undefined; // still being written
  }
}

/** @param {ToolPart} part @returns {HTMLElement[]} */
function argumentsOf(part) {
  const args = argsOf(part);
  if (typeof args !== 'object' || args === null) return part.argsText ? [block('Arguments', part.argsText)] : [];
  const entries = Object.entries(args);
  if (entries.length === 0) return [];
  const rows = entries.map(([name, value]) => [
    h('dt', {}, name),
    h('dd', {}, h('pre', {}, cut(typeof value === 'string' ? value : JSON.stringify(value, null, 2)))),
  ]);
  return [h('section', { class: 'tool-args' }, h('dl', {}, ...rows.flat()))];
}

/** @param {import('./chat-log.js').ToolResult} result @param {boolean} isPartial @returns {HTMLElement[]} */
function resultOf(result, isPartial) {
  const label = isPartial ? 'Output so far' : result.isError ? 'Error' : 'Result';
  const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const images = result.content.flatMap((part) => (part.type === 'image' ? [picture(part)] : []));
  return [...(text || images.length === 0 ? [block(label, text || 'Nothing was returned.')] : []), ...images];
}

/** @param {string} label @param {string} text */
function block(label, text) {
  const head = h(
    'div',
    { class: 'code-head' },
    h('span', {}, label),
    copyButton(() => text),
  );
  return h('section', { class: 'code' }, head, h('pre', { tabindex: 0, 'aria-label': label }, cut(text)));
}

/** Only pictures that came with the message are shown. @param {{ data: string, mimeType: string }} image */
export function picture({ data, mimeType }) {
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) return h('p', { class: 'hint' }, `An image of type ${mimeType}`);
  return h('img', { class: 'picture', src: `data:${mimeType};base64,${data}`, alt: 'Picture in the message' });
}

/** @param {string} text */
const cut = (text) =>
  text.length <= longestShown ? text : `${text.slice(0, longestShown)}\n… ${text.length - longestShown} more characters`;

/** @param {string} text */
const oneLine = (text) => text.slice(0, 200).replace(/\s+/g, ' ').trim();
