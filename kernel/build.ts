import { isCoded, KernelError, messageOf } from './error.ts';
import { type Generation, generation } from './generation.ts';
import { canonical, digest, type Identity, type Instance, setUp } from './instance.ts';
import type { Kernel, Values } from './kernel.ts';
import { type Entry, order } from './order.ts';
import { CheckGeneration, type LeftOut, LoadConfig } from './points.ts';
import { lacking } from './run.ts';

/** Everything the next generation is made of. */
export interface Candidate {
  readonly plugins: readonly Entry[];
  /** The whole config, as values. */
  readonly config: Values;
  /** What the host could not even load. */
  readonly leftOut?: readonly LeftOut[];
}

/** Makes the next generation: reuses what kept its identity, builds the rest, and undoes that where the whole fails. */
export async function build(kernel: Kernel, id: number, candidate: Candidate) {
  const { current: previous, options, report } = kernel;
  const instances: Instance[] = [];
  const fresh: Instance[] = [];
  const built: { readonly plugin: string; readonly why: string }[] = [];
  const leftOut = [...(candidate.leftOut ?? [])];
  const named = (name: string) => candidate.plugins.find(({ plugin }) => plugin.name === name)?.plugin;

  /** Of a plugin, by name, or a block of the config, by path: what is live now or required may not be left out. */
  function isVital(block: string): boolean | undefined {
    const plugin = named(block);
    if (plugin) return plugin.required || previous?.instances.some(({ name }) => name === block);
    return previous?.leftOut.every((out) => out.plugin !== block);
  }

  function leaveOut(block: string, error: unknown) {
    if (isVital(block)) throw error;
    const provides = named(block)?.provides?.map((token) => token.id) ?? [];
    leftOut.push({
      plugin: block,
      code: isCoded(error) ? error.code : 'SETUP_FAILED',
      why: messageOf(error).replaceAll('\n', '; '),
      provides,
    });
    report(error);
  }

  async function make(): Promise<Generation> {
    const { plugins, config } = candidate;
    const entries = order(plugins, leaveOut);
    const { early = [], late = [] } = Object.groupBy(entries, ({ plugin }) => (plugin.phase === 'config' ? 'early' : 'late'));
    const loaded = early.length ? await loadConfig(early) : config;
    const owned = plugins.flatMap(({ plugin }) => plugin.config?.at ?? []); // also by the early, and by those without a place
    await add(late, loaded, owned);
    const next = generation(kernel, id, instances, leftOut);
    const problem = await next.enter((run) => run.call(CheckGeneration, { plugins: instances.map(({ name }) => name), leftOut }));
    if (problem) throw new KernelError('GENERATION_REJECTED', problem);
    return next;
  }

  /** Phase `config`: those plugins see the text's values and may rewrite all but `plugins.*`. */
  async function loadConfig(early: readonly Entry[]): Promise<Values> {
    const { config } = candidate;
    await add(early, config, Object.keys(config));
    const trial = generation(kernel, 0, [...instances], leftOut);
    const loaded = await trial.enter((run) => run.call(LoadConfig, config));
    if (canonical(loaded['plugins']) === canonical(config['plugins'])) return loaded;
    throw new KernelError('CONFIG_PLUGINS_CHANGED', 'a config.load tap changed plugins.*; which plugins run is final before it');
  }

  async function add(entries: readonly Entry[], config: Values, others: readonly string[]) {
    const plugins = entries.map(({ plugin }) => plugin);
    const { slices, faults } = options.check.slice(config, plugins, others);
    if (faults.some(({ block }) => !block || isVital(block))) throw options.check.error(faults);
    const faulty = Map.groupBy(faults, ({ block = '' }) => block);
    for (const [block, own] of faulty) leaveOut(block, options.check.error(own));
    for (const entry of entries) {
      const { name } = entry.plugin;
      if (faulty.has(name)) continue;
      try {
        instances.push(await reuseOrMake(entry, slices.get(name)));
      } catch (error) {
        leaveOut(name, error);
      }
    }
  }

  async function reuseOrMake(entry: Entry, config: unknown): Promise<Instance> {
    const { name, needs = {} } = entry.plugin;
    const providers = Object.entries(needs).map(([alias, { id: key }]) => {
      const provider = [kernel.outside, ...instances].find(({ services }) => services.has(key));
      const { number, services } = provider ?? lacking(key, `plugin "${name}" needs`, leftOut, name);
      return { alias, number, value: services.get(key) };
    });
    const numbers = Object.fromEntries(providers.map(({ alias, number }) => [`it needs ${alias}`, number]));
    const identity = { 'its code changed': entry.codeHash, 'its config changed': digest(config), ...numbers };
    const old = previous?.instances.find((one) => one.name === name);
    const why = entry.isAnew ? 'hard reload' : old ? differences(old.identity, identity) : 'new';
    if (old && !why) return old;
    const given = Object.fromEntries(providers.map(({ alias, value }) => [alias, value]));
    const one = await setUp(kernel, entry, identity, config, given);
    fresh.push(one);
    built.push({ plugin: name, why });
    return one;
  }

  try {
    return { next: await make(), built };
  } catch (error) {
    for (const one of fresh.toReversed()) await one.dispose();
    throw error;
  }
}

/** Why an instance cannot be kept, in words; empty where it can. */
const differences = (before: Identity, now: Identity): string =>
  Object.keys({ ...before, ...now })
    .filter((fact) => before[fact] !== now[fact])
    .join(', ');
