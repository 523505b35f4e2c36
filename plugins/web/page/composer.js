// @ts-check
/** Where a message is written. What is not sent yet is kept per chat, over refreshes. */
import { byId, h, setText } from './element.js';
import { keep, kept } from './keep.js';

/**
 * @typedef {{ id: string, name?: string }} Agent
 * @param {{ onSend: (text: string) => void, onStop: () => void, onAgent: (id: string) => void }} options
 */
export function createComposer({ onSend, onStop, onAgent }) {
  const form = byId('form', 'composer');
  const input = byId('textarea', 'text');
  const sendButton = byId('button', 'send');
  const stopButton = byId('button', 'stop');
  const picker = byId('select', 'agent');
  let draft = '';
  let isRunning = false;
  let isStopping = false;

  function fit() {
    input.style.height = 'auto';
    input.style.height = `${input.scrollHeight}px`;
  }

  function show() {
    const isEmpty = input.value.trim() === '';
    stopButton.hidden = !isRunning;
    stopButton.disabled = isStopping;
    setText(byId('span', 'stop-label'), isStopping ? 'Stopping…' : 'Stop');
    sendButton.hidden = isRunning && isEmpty;
    sendButton.disabled = isEmpty;
  }

  function submit() {
    const text = input.value.trim();
    if (!text) return;
    input.value = '';
    changed();
    onSend(text);
  }

  function changed() {
    keep(draft, input.value || undefined);
    fit();
    show();
  }

  function stop() {
    if (!isRunning || isStopping) return;
    isStopping = true;
    show();
    onStop();
  }

  input.oninput = changed;
  input.onkeydown = (event) => {
    // Enter that ends an input method's word is not a message; a phone's Enter key is its only new line.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || matchMedia('(pointer: coarse)').matches) return;
    event.preventDefault();
    submit();
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  stopButton.onclick = stop;
  picker.onchange = () => onAgent(picker.value);

  return {
    stop,
    /** @param {string} sessionKey @param {boolean} isNew A chat without a message keeps its draft under no key: it may never get one. */
    open(sessionKey, isNew) {
      const name = `draft.${isNew ? 'new' : sessionKey}`;
      if (name === draft) return;
      draft = name;
      input.value = kept(draft) ?? '';
      fit();
      show();
    },
    /** @param {boolean} running */
    running(running) {
      if (isRunning === running) return;
      isRunning = running;
      isStopping = false;
      show();
    },
    /** A Stop that was not heard may be pressed again. */
    stopFailed() {
      isStopping = false;
      show();
    },
    /** @param {string} text */
    put(text) {
      input.value = text;
      changed();
      input.focus();
    },
    focus() {
      // On a phone the keyboard would cover half of what there is to read.
      if (matchMedia('(pointer: fine)').matches) input.focus();
    },
    /** A chat that has begun stays with its agent. @param {boolean} isNew */
    showAgents(isNew) {
      const isHidden = !isNew || picker.options.length < 2;
      if (picker.hidden === isHidden) return;
      picker.hidden = isHidden;
      fit(); // on a narrow screen the two share a line, or do not
    },
    /** @param {readonly Agent[]} agents @param {string} chosen */
    agents(agents, chosen) {
      picker.replaceChildren(...agents.map(({ id, name }) => h('option', { value: id }, name ?? id)));
      picker.value = chosen;
    },
  };
}
