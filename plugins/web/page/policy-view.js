// @ts-check
/** Which tools an agent has for whom, and what took the others away: as policy itself tells it. */
import { byId, h } from './element.js';
import { icon } from './icons.js';

/**
 * @typedef {import('../../policy/contract.ts').Explanation} Explanation
 * @typedef {import('../../policy/contract.ts').ToolLine} ToolLine
 * @param {{ call: import('./connection.js').Connection['call'], onError: (error: unknown) => void }} options
 */
export function createPolicyView({ call, onError }) {
  const node = byId('div', 'policy-view');
  const agent = h('select', { id: 'policy-agent' });
  const channel = h('input', { id: 'policy-channel', value: 'chat', list: 'policy-channels', autocomplete: 'off', spellcheck: 'false' });
  const channels = h(
    'datalist',
    { id: 'policy-channels' },
    ...['chat', 'http', 'voice', 'node'].map((name) => h('option', { value: name })),
  );
  const sender = h('select', { id: 'policy-sender' }, ...Object.entries(senders).map(([value, label]) => h('option', { value }, label)));
  const group = h('input', { id: 'policy-group', placeholder: 'none', autocomplete: 'off', spellcheck: 'false' });
  const child = h('input', { id: 'policy-child', type: 'checkbox' });
  const sandboxed = h('input', { id: 'policy-sandboxed', type: 'checkbox' });
  const answer = h('div', { 'aria-live': 'polite' });
  let asked = 0;

  /** At the first look: what nobody opens is no part of the page. */
  function drawPickers() {
    node.replaceChildren(
      h('h2', {}, 'Which tools, for whom'),
      h(
        'p',
        { class: 'lead' },
        'What an agent is offered in a turn of this kind, and which rule took the rest away. Each call is judged again.',
      ),
      h(
        'form',
        { class: 'policy-pickers', onsubmit: (/** @type {Event} */ event) => event.preventDefault(), onchange: () => void refresh() },
        field('Agent', agent),
        field('Channel', channel),
        field('Sender', sender),
        field('Group', group),
        h('div', { class: 'policy-flags' }, flag('Sub-agent', child), flag('Sandboxed', sandboxed)),
        channels,
      ),
      answer,
    );
  }

  async function refresh() {
    if (!node.hasChildNodes()) drawPickers();
    const mine = ++asked;
    const params = {
      ...(agent.value && { agent: agent.value }),
      ...(group.value.trim() && { group: group.value.trim() }),
      channel: channel.value.trim() || 'chat',
      sender: sender.value,
      depth: child.checked ? 1 : 0,
      sandboxed: sandboxed.checked,
    };
    try {
      const told = /** @type {Explanation} */ (await call('policy.explain', params));
      if (mine === asked) answer.replaceChildren(...draw(told));
    } catch (error) {
      if (mine !== asked) return;
      if (/** @type {{ code?: unknown }} */ (error).code === 'GATEWAY_NO_METHOD')
        answer.replaceChildren(h('p', { class: 'hint' }, switchedOff));
      else onError(error);
    }
  }

  return {
    refresh,
    /** @param {readonly { id: string, name?: string }[]} agents @param {string} [defaultId] */
    setAgents(agents, defaultId) {
      const chosen = agents.some(({ id }) => id === agent.value) ? agent.value : (defaultId ?? agents[0]?.id ?? '');
      agent.replaceChildren(...agents.map(({ id, name }) => h('option', { value: id }, name && name !== id ? `${name} (${id})` : id)));
      agent.value = chosen;
    },
  };
}

const senders = { owner: 'Owner', known: 'Known sender', unknown: 'Unknown sender' };
const switchedOff = 'The plugin "policy" is switched off: every tool call is denied.';

/** @type {Readonly<Record<string, string>>} */
const layerNames = {
  channel: 'Channel',
  provider: 'Model provider',
  owner: 'Owner only',
  config: 'Config',
  confinement: 'Sandbox and sub-agents',
  plugin: 'Another plugin',
};

/** @param {string} label @param {HTMLElement} input */
const field = (label, input) => h('label', { class: 'policy-field' }, h('span', {}, label), input);

/** @param {string} label @param {HTMLElement} input */
const flag = (label, input) => h('label', { class: 'policy-flag' }, input, label);

/** @param {Explanation} told @returns {HTMLElement[]} */
function draw({ tools, layers, findings, subject }) {
  const here = tools.filter(({ state }) => state !== 'absent');
  const absent = tools.filter(({ state }) => state === 'absent');
  const offered = here.filter(({ state }) => state === 'passed').length;
  const model = subject.provider === undefined ? '' : `, with ${subject.provider}${subject.model === undefined ? '' : `/${subject.model}`}`;
  return [
    ...findings.map(({ message, place }) =>
      h('div', { class: 'policy-finding' }, icon('alert'), h('div', {}, h('p', {}, message), h('p', { class: 'policy-place' }, place))),
    ),
    h('h3', { class: 'policy-sum' }, `${offered} of ${here.length} tools are offered${model}`),
    h(
      'ol',
      { class: 'policy-layers' },
      ...layers.map(({ layer, removed, left }) => layerStep(layerNames[layer] ?? layer, removed.length, left)),
    ),
    table(here),
    ...(absent.length > 0 ? [absentPart(absent)] : []),
  ];
}

/** @param {string} name @param {number} taken @param {number} left */
const layerStep = (name, taken, left) =>
  h('li', {}, h('strong', {}, name), ` takes ${taken}`, h('span', { class: 'policy-left' }, `${left} left`));

/** @param {readonly ToolLine[]} tools */
function table(tools) {
  if (tools.length === 0) return h('p', { class: 'hint' }, 'No plugin brings a tool.');
  const head = h('tr', {}, ...['Tool', 'Offered, or removed by', 'Why'].map((title) => h('th', { scope: 'col' }, title)));
  return h('table', { class: 'policy-table' }, h('thead', {}, head), h('tbody', {}, ...tools.map(row)));
}

/** @param {ToolLine} line */
function row({ tool, state, layer, why, place, rule, judgedByCall }) {
  const isOffered = state === 'passed';
  const where = place ?? (layer === 'plugin' ? rule : undefined);
  return h(
    'tr',
    { class: isOffered ? 'offered' : 'removed' },
    h('th', { scope: 'row' }, h('code', {}, tool)),
    h(
      'td',
      { class: 'policy-verdict' },
      icon(isOffered ? 'check' : 'cross'),
      isOffered ? 'Offered' : (layerNames[layer ?? ''] ?? 'Removed'),
    ),
    h(
      'td',
      {},
      isOffered ? judgedByCall && h('span', { class: 'hint' }, 'Each call is judged by its command') : why,
      !isOffered && where && h('div', { class: 'policy-place' }, where),
    ),
  );
}

/** @param {readonly ToolLine[]} absent */
function absentPart(absent) {
  const byReason = [...Map.groupBy(absent, ({ why = '' }) => why)].toSorted(([, a], [, b]) => a.length - b.length);
  const parts = byReason.flatMap(([why, tools]) => [
    h('dt', {}, why),
    h('dd', {}, ...tools.map(({ tool }) => h('span', { class: 'chip' }, tool))),
  ]);
  return h('details', { class: 'policy-absent' }, h('summary', {}, `${absent.length} more are known, but not here`), h('dl', {}, ...parts));
}
