import { Host, isCoded, KernelError, messageOf, type Run } from '../../kernel/index.ts';
import { Agents, modelChain } from '../agents/contract.ts';
import type { Catalog } from './catalog.ts';
import { type MissingModel, ModelCatalog, type Model, type ModelChoice } from './contract.ts';
import type { LocalServer } from './detect.ts';
import { hosted } from './known.ts';
import { keyedBy } from './provider.ts';
import { whereIs } from './whereabouts.ts';

const choose = 'set agents.defaults.model to choose';

/** Which model answers, and why: asked for, configured, else the first that is found. */
export async function choiceOf(
  run: Run,
  { catalog, found }: { readonly catalog: Catalog; readonly found: () => Promise<LocalServer | undefined> },
  agentId: string,
  asked: string | undefined,
): Promise<ModelChoice> {
  if (asked) return { model: await catalog.resolve(run, asked), why: 'asked for by name' };
  const named = configuredRef(run, agentId);
  if (named) return byName(run, catalog, named);
  const { first } = catalog;
  if (first) return because(first, () => `the first in ${whereIs(run, 'models.providers')}; ${choose} another`);
  return byKey(run, catalog) ?? (await byServer(found)) ?? (await byPlugin(run));
}

/** SPEC 7.4: where the config's model cannot be had, the first of its fallbacks that can: nobody asked for it by name. */
async function byName(run: Run, catalog: Catalog, { ref, path, fallbacks }: Named): Promise<ModelChoice> {
  const why = () => `named in ${whereIs(run, path)}`;
  try {
    return because(await catalog.resolve(run, ref), why);
  } catch (error) {
    if (!isCoded(error) || error.code !== 'MODEL_UNKNOWN') throw error;
    const problem = messageOf(error);
    for (const other of fallbacks) {
      const model = await catalog.resolve(run, other).catch(() => undefined);
      if (model) return because(model, () => `in place of ${ref}, ${why()}: ${problem}`, missingFor(ref, why, problem));
    }
    throw error;
  }
}

/** The reason is made when somebody reads it: a turn does not. */
const because = (model: Model, why: () => string, missing?: MissingModel): ModelChoice => ({
  model,
  get why() {
    return why();
  },
  ...(missing && { missing }),
});

const missingFor = (ref: string, why: () => string, problem: string): MissingModel => ({
  ref,
  problem,
  get why() {
    return why();
  },
});

/** Whether anything but a local server or the last resort can answer for every agent: then nothing is looked for. */
export function isSettled(run: Run, catalog: Catalog): boolean {
  if (catalog.first || byKey(run, catalog)) return true;
  const agents = run.find(Agents);
  return agents !== undefined && agents.ids.length > 0 && agents.ids.every((id) => configuredRef(run, id));
}

interface Named {
  readonly ref: string;
  readonly path: string;
  readonly fallbacks: readonly string[];
}

function configuredRef(run: Run, agentId: string): Named | undefined {
  const agents = run.find(Agents);
  const { primary: ref, fallbacks = [] } = agents ? modelChain(agents, agentId) : {};
  if (!agents || !ref) return undefined;
  const own = agents.own(agentId)?.model;
  const isOwn = typeof own === 'string' || own?.primary !== undefined;
  return { ref, fallbacks, path: `${isOwn ? agents.path(agentId) : 'agents.defaults'}.model` };
}

function byKey(run: Run, catalog: Catalog): ModelChoice | undefined {
  for (const provider of hosted) {
    const key = keyedBy(run, provider);
    const model = key && catalog.ofKnown(provider.id, provider.model?.id ?? '');
    if (model) return { model, why: `${key}; ${choose} another ("demo/demo" uses none)` };
  }
  return undefined;
}

async function byServer(found: () => Promise<LocalServer | undefined>): Promise<ModelChoice | undefined> {
  const server = await found();
  const model = server?.models[0];
  if (!model) return undefined;
  const where = new URL(model.baseUrl).host;
  return { model, why: `${server.title} answers at ${where}; ${choose} another, INSTAR_NO_DETECT=1 to not look` };
}

async function byPlugin(run: Run): Promise<ModelChoice> {
  const [model] = await run.call(ModelCatalog, []);
  const looks = run.get(Host).env['INSTAR_NO_DETECT'] !== '1';
  const local = looks
    ? 'no local server answers (INSTAR_NO_DETECT=1: do not look)'
    : 'local servers are not looked for (INSTAR_NO_DETECT=1)';
  const none = `no model in the config, no provider key in the environment, ${local}`;
  const how = `export a key such as ANTHROPIC_API_KEY, or ${choose} one`;
  if (!model) throw new KernelError('MODEL_NONE', `${none}; ${how}`);
  return { model, why: `${none}; ${how}`, brief: 'built in; "instar models explain" says why' };
}
