import { isCoded, KernelError, messageOf } from './error.ts';
import type { Generation } from './generation.ts';
import { canonical, digest, type Identity, whyRebuilt } from './identity.ts';
import { type Around, type Instance, instance } from './instance.ts';
import { type Entry, order } from './order.ts';
import { type Fault, pathOf, sliceConfig, type Values } from './ownership.ts';
import { type LeftOut, LoadConfig } from './points.ts';
import type { Given, Run } from './run.ts';

/** Everything the next generation is made of. */
export interface Candidate {
  readonly plugins: readonly Entry[];
  /** The whole config, as values. */
  readonly config: Values;
  /** Config paths of plugins that are off: neither checked nor strange. */
  readonly dormant?: readonly string[];
  /** What the host could not even load. */
  readonly leftOut?: readonly LeftOut[];
}

/** All faults of a config at once, each with its path. */
export class ConfigError extends KernelError {
  readonly problems: readonly Fault[];
  constructor(problems: readonly Fault[]) {
    super('CONFIG_INVALID', problems.map(faultText).join('; '));
    this.problems = problems;
  }
}
const faultText = ({ path, message, nearest }: Fault) =>
  `${path}: ${message}${nearest ? ` (did you mean "${nearest}"?)` : ''}`;

export interface BuildContext extends Around {
  readonly previous: Generation | undefined;
  readonly services: readonly Given[];
  number(): number;
  /** Runs work on these instances alone, before they are a generation. */
  trial<T>(instances: readonly Instance[], work: (run: Run) => Promise<T>): Promise<T>;
}

/** One attempt at a generation: reuses what kept its identity, builds the rest, and can be undone whole. */
export function build(candidate: Candidate, context: BuildContext) {
  const { previous, report } = context;
  const instances: Instance[] = [];
  const fresh: Instance[] = [];
  const built: { readonly plugin: string; readonly why: string }[] = [];
  const leftOut: LeftOut[] = [...(candidate.leftOut ?? [])];
  const faulty = new Set<string>();
  const providers = new Map(context.services.map(({ token, value }) => [token.id, { number: 0, value }]));
  const before = (name: string) => previous?.instances.find((one) => one.name === name);

  /** A failing plugin rejects the candidate if it is live now or required; else the rest run without it. */
  function leaveOut({ plugin }: Entry, error: unknown) {
    if (before(plugin.name) || plugin.required) throw error;
    const provides = plugin.provides?.map(({ id }) => id) ?? [];
    leftOut.push({
      plugin: plugin.name,
      code: isCoded(error) ? error.code : 'SETUP_FAILED',
      why: messageOf(error),
      provides,
    });
    report(error);
  }

  /** Faults outside any block reject the config; a faulty block is left out unless it is live. */
  function sift(faults: readonly Fault[], entries: readonly Entry[]) {
    const fatal = faults.filter(({ block, plugin }) => {
      const entry = entries.find((one) => one.plugin.name === plugin);
      if (!block || !entry) return true;
      if (block === pathOf(entry.plugin)) return entry.plugin.required || before(entry.plugin.name);
      return previous && !previous.leftOut.some((out) => out.plugin === block);
    });
    if (fatal.length) throw new ConfigError(fatal);
    for (const fault of faults) {
      const whole = entries.some(({ plugin }) => pathOf(plugin) === fault.block);
      leftOut.push({
        plugin: (whole ? fault.plugin : fault.block) as string,
        code: 'CONFIG_INVALID',
        why: faultText(fault),
      });
    }
  }

  async function add(entry: Entry, config: unknown) {
    const one = await reuseOrMake(entry, config);
    instances.push(one);
    for (const { id } of entry.plugin.provides ?? [])
      providers.set(id, { number: one.number, value: one.services.get(id) });
  }

  async function reuseOrMake(entry: Entry, config: unknown): Promise<Instance> {
    const { name, needs = {} } = entry.plugin;
    const needed = Object.entries(needs).map(([alias, token]) => [alias, provider(name, token.id)] as const);
    const numbers = Object.fromEntries(needed.map(([alias, { number }]) => [alias, number]));
    const identity: Identity = { code: entry.codeHash, config: digest(canonical(config)), needs: numbers };
    const old = before(name);
    const why = whyRebuilt(old?.identity, identity);
    if (old && !why) return old;
    const one = instance(context.number(), identity, entry, context);
    fresh.push(one);
    try {
      await one.setup(config, Object.fromEntries(needed.map(([alias, { value }]) => [alias, value])));
    } catch (error) {
      void one.dispose(); // not awaited: a hanging disposer must not hold up the others
      throw error;
    }
    built.push({ plugin: name, why: why ?? 'new' });
    return one;
  }

  function provider(plugin: string, id: string) {
    const out = leftOut.find(({ provides }) => provides?.includes(id));
    const why = out
      ? `plugin "${out.plugin}" would provide it, but was left out: ${out.why}`
      : 'no listed plugin provides it';
    const found = providers.get(id);
    if (!found) throw new KernelError('SERVICE_UNKNOWN', `plugin "${plugin}" needs "${id}": ${why}`, { plugin });
    return found;
  }

  async function make(entries: readonly Entry[], slices: ReadonlyMap<string, unknown>) {
    for (const entry of entries) {
      if (faulty.has(entry.plugin.name)) continue;
      await add(entry, slices.get(entry.plugin.name)).catch((error) => leaveOut(entry, error));
    }
  }

  /** Phase `config`: those plugins see the text's values and may rewrite all but `plugins.*`. */
  async function loadConfig(first: readonly Entry[]): Promise<Values> {
    const { config } = candidate;
    if (first.length === 0) return config;
    const { slices, faults } = sliceConfig(
      config,
      first.map(({ plugin }) => plugin),
      Object.keys(config),
    );
    sift(faults, first);
    await make(first, slices);
    const loaded = await context.trial(instances, (run) => run.call(LoadConfig, config));
    if (canonical(loaded.plugins) === canonical(config.plugins)) return loaded;
    throw new KernelError(
      'CONFIG_PLUGINS_CHANGED',
      'a config.load tap changed plugins.*; which plugins run is final before it',
    );
  }

  async function run() {
    const { entries, misfits } = order(candidate.plugins);
    for (const { entry, error } of misfits) leaveOut(entry, error);
    const first = entries.filter(({ plugin }) => plugin.phase === 'config');
    const config = await loadConfig(first);
    const { slices, faults } = sliceConfig(
      config,
      entries.map(({ plugin }) => plugin),
      candidate.dormant ?? [],
    );
    sift(faults, entries);
    await make(
      entries.filter((entry) => !first.includes(entry)),
      slices,
    );
  }

  /** Undoes what this attempt built, in reverse. What it reused stays. */
  async function dispose() {
    for (const one of fresh.toReversed()) await one.dispose();
  }

  return { instances, built, leftOut, run, dispose };
}
