import { Host, isSecretName, joinKey, type Run } from '../../kernel/index.ts';
import { Models } from '../models/contract.ts';
import { Agents, type AgentModel, modelChain, type ShownField, UsualFields } from './contract.ts';

type Fields = Readonly<Record<string, unknown>>;
interface Leaf {
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** Taken whole: an agent's own rules leave nothing of the defaults' (SPEC 3.4). */
const whole = ['tools'];
/** Told by themselves, or not values at all. */
const apart = ['id', 'default', 'name', 'model', 'workspace', 'agentDir'];

/** Every value that counts for an agent, with where it comes from: found as those who use the fields find them. */
export async function effectiveFields(run: Run, id: string): Promise<readonly ShownField[]> {
  const own: Fields = run.get(Agents).own(id) ?? {};
  const owned = whole.filter((key) => own[key] !== undefined);
  const usual = await run.call(UsualFields, {});
  const found = new Map<string, ShownField>();
  const add = (leaves: readonly Leaf[], from: (keys: readonly string[]) => Origin) => {
    for (const { keys, value } of leaves) {
      const field = keys.reduce(joinKey, '');
      if (!apart.includes(keys[0] ?? '') && !found.has(field)) found.set(field, { field, value: shown(value, keys), ...from(keys) });
    }
  };
  add(leavesOf(own), (keys) => byAgent(run, id, keys));
  const shared = leavesOf(run.get(Agents).defaults);
  add(
    shared.filter(({ keys: [first = ''] }) => !owned.includes(first)),
    (keys) => byDefaults(run, keys),
  );
  add(
    Object.entries(usual).map(([field, value]) => ({ keys: field.split('.'), value })),
    () => builtIn,
  );
  const model = await effectiveModel(run, id);
  const rest = [...found.values()].toSorted((a, b) => (a.field < b.field ? -1 : 1));
  return [...(model ? [model] : []), fallbacks(run, id), ...aboutItself(run, id), ...rest];
}

/** The model that answers. Where none is named, the choice of the moment with its reason; undefined where there is none at all. */
export async function effectiveModel(run: Run, id: string): Promise<ShownField | undefined> {
  const field = 'model.primary';
  const { primary } = modelChain(run.get(Agents), id);
  if (primary) return { field, value: primary, ...modelOrigin(run, id, 'primary') };
  const choice = await run
    .find(Models)
    ?.choose(run, id)
    .catch(() => undefined); // doctor and status say why
  return choice && { field, value: `${choice.model.provider}/${choice.model.id}`, ...builtIn, why: choice.brief ?? choice.why };
}

const fallbacks = (run: Run, id: string): ShownField => ({
  field: 'model.fallbacks',
  value: modelChain(run.get(Agents), id).fallbacks,
  ...modelOrigin(run, id, 'fallbacks'),
});

/** Primary and chain may come from different places. A model that is a string has no chain. */
function modelOrigin(run: Run, id: string, part: 'primary' | 'fallbacks'): Origin {
  const agents = run.get(Agents);
  const [mine, theirs] = [agents.own(id)?.model, agents.defaults['model'] as AgentModel | undefined];
  const has = (model: AgentModel | undefined) => (typeof model === 'string' ? part === 'primary' : model?.[part] !== undefined);
  const keys = (model: AgentModel | undefined) => (typeof model === 'string' ? ['model'] : ['model', part]);
  if (has(mine)) return byAgent(run, id, keys(mine));
  return has(theirs) ? byDefaults(run, keys(theirs)) : builtIn;
}

function aboutItself(run: Run, id: string): readonly ShownField[] {
  const agents = run.get(Agents);
  const own: Fields = agents.own(id) ?? {};
  const from = (field: string): Origin => {
    if (own[field] !== undefined) return byAgent(run, id, [field]);
    const beside = field === 'workspace' && id !== agents.defaultId ? { why: 'beside that of the default agent' } : {};
    const isShared = field === 'workspace' && agents.defaults[field] !== undefined;
    return isShared ? { ...byDefaults(run, [field]), ...beside } : { ...builtIn, ...beside };
  };
  const values = { name: own['name'] ?? id, workspace: agents.workspace(id), agentDir: agents.dir(id) };
  return Object.entries(values).map(([field, value]) => ({ field, value, ...from(field) }));
}

type Origin = Omit<ShownField, 'field' | 'value'>;
const builtIn: Origin = { origin: 'built-in' };

const byAgent = (run: Run, id: string, keys: readonly string[]): Origin => ({
  origin: 'agent',
  ...at(run, keys.reduce(joinKey, run.get(Agents).path(id))),
});
const byDefaults = (run: Run, keys: readonly string[]): Origin => ({
  origin: 'defaults',
  ...at(run, keys.reduce(joinKey, 'agents.defaults')),
});

const at = (run: Run, path: string) => ({ path, place: run.get(Host).place(path) });

/** Lists are values; an object without keys says nothing. */
function leavesOf(value: unknown, keys: readonly string[] = []): readonly Leaf[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) return [{ keys, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...keys, key]));
}

/** What may be a secret is told to nobody. */
const shown = (value: unknown, keys: readonly string[]) => (keys.some(isSecretName) && typeof value === 'string' ? '[hidden]' : value);
