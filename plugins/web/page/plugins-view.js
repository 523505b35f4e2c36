// @ts-check
/** What is live: the generation, its instances and what each brings, what was left out, what is still leaving. */
import { byId, h } from './element.js';
import { duration } from './format.js';
import { createFaults } from './plugin-faults.js';

/**
 * @typedef {ReturnType<import('../../../kernel/index.ts').Host['inspect']>} Inspection
 * @typedef {Inspection['instances'][number]} Instance
 * @typedef {{ inspection: Inspection, report?: readonly { label: string, value: string }[] }} Status
 * @param {{ call: import('./connection.js').Connection['call'], onError: (error: unknown) => void, actions: readonly HTMLElement[] }} options
 */
export function createPluginsView({ call, onError, actions }) {
  const node = byId('div', 'plugins-view');
  /** @type {Set<string>} */
  const opened = new Set();
  let filter = '';
  const search = h('input', { type: 'search', placeholder: 'Filter by name, hook or service', 'aria-label': 'Filter plugins' });
  const list = h('div', { class: 'instances' });
  const faults = createFaults();
  /** @type {Status | undefined} */
  let status;

  search.oninput = () => {
    filter = search.value.trim().toLowerCase();
    drawList();
  };

  function drawList() {
    const all = (status?.inspection.instances ?? []).toSorted((a, b) => a.plugin.localeCompare(b.plugin));
    const shown = all.filter((instance) => textOf(instance).includes(filter));
    list.replaceChildren(...shown.map(drawInstance));
    if (shown.length === 0) list.append(h('p', { class: 'hint' }, 'No plugin matches.'));
  }

  /** @param {Instance} instance */
  function drawInstance(instance) {
    const { plugin, description, required, since, hooks } = instance;
    const wrong = faults.countOf(plugin);
    const count = hooks.length === 0 ? '' : `${hooks.length} ${hooks.length === 1 ? 'hook' : 'hooks'}`;
    const summary = h(
      'summary',
      {},
      h(
        'span',
        { class: 'instance-name' },
        plugin,
        required && h('span', { class: 'tag' }, 'required'),
        wrong > 0 && h('span', { class: 'tag wrong' }, wrong === 1 ? '1 fault' : `${wrong} faults`),
      ),
      h('span', { class: 'instance-since' }, [count, since > 1 && `since generation ${since}`].filter(Boolean).join(' · ')),
      h('span', { class: 'instance-about' }, description),
    );
    const details = h('details', { class: 'instance', open: opened.has(plugin) }, summary, h('dl', {}, ...factsOf(instance)));
    details.ontoggle = () => (details.open ? opened.add(plugin) : opened.delete(plugin));
    return details;
  }

  /** @param {Status} now */
  function draw({ inspection, report = [] }) {
    const { generation, instances, leftOut, retiring, runs, leases } = inspection;
    node.replaceChildren(
      h('h2', {}, `Generation ${generation}`),
      h(
        'p',
        { class: 'lead' },
        `${instances.length} plugins live, ${runs} ${runs === 1 ? 'run' : 'runs'} under way, ${leases.length} leases held.`,
      ),
      ...retiring.map((old) => h('p', { class: 'note' }, leavingText(old))),
      ...leftOut.map(({ plugin, code, why }) =>
        h(
          'div',
          { class: 'error-card' },
          h('div', {}, h('strong', {}, `${plugin} was left out`), ' ', h('code', {}, code), h('p', {}, why)),
        ),
      ),
      faults.node,
      search,
      list,
      h('h2', {}, 'This gateway'),
      h('dl', { class: 'facts' }, ...report.flatMap(({ label, value }) => [h('dt', {}, label), h('dd', {}, safeReport(value))])),
      h('div', { class: 'actions' }, ...actions),
    );
    drawList();
  }

  return {
    /** @param {import('./plugin-faults.js').Fault} fault */
    fault(fault) {
      faults.take(fault);
      if (status) drawList();
    },
    async refresh() {
      try {
        const [now, told] = await Promise.all([call('status'), call('plugins.faults').catch(() => ({ faults: [] }))]); // that plugin may be off
        status = /** @type {Status} */ (now);
        faults.set(told.faults, status.inspection);
        draw(status);
      } catch (error) {
        onError(error);
      }
    },
  };
}

/** @param {Instance} instance @returns {HTMLElement[]} */
function factsOf({ instance, since, hooks, provides, needs, leases, source, setupMs }) {
  /** @type {[string, HTMLElement[]][]} */
  const facts = [
    ['Hooks it taps', hooks.map(({ hook, stage }) => chip(hook, stage === 0 ? '' : `stage ${stage}`))],
    ['Provides', provides.map((name) => chip(name))],
    ['Needs', needs.map((name) => chip(name))],
    ['Leases', leases.map((name) => chip(name))],
    ['Instance', [h('span', {}, `Number ${instance}, live since generation ${since}, set up in ${duration(setupMs)}`)]],
    ['Source', [h('span', { class: 'source' }, source)]],
  ];
  return facts.filter(([, values]) => values.length > 0).flatMap(([name, values]) => [h('dt', {}, name), h('dd', {}, ...values)]);
}

/** @param {string} name @param {string} [extra] */
const chip = (name, extra) => h('span', { class: 'chip' }, name, extra && h('small', {}, ` ${extra}`));

/** @param {Instance} instance */
const textOf = ({ plugin, description, hooks, provides }) =>
  [plugin, description, ...hooks.map(({ hook }) => hook), ...provides].join(' ').toLowerCase();

/** @param {{ generation: number, runs: number }} old */
const leavingText = ({ generation, runs }) =>
  `Generation ${generation} is leaving: ${runs === 1 ? 'one run still uses it' : `${runs} runs still use it`}.`;

/** The start block may name the page with its token; here nobody needs it. @param {string} value */
const safeReport = (value) => value.replace(/#token=\S+/, '');
