import { Host, type Offer, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Approvals } from '../approvals/contract.ts';
import type { Entry, Placed } from './allowlist.ts';
import type { Judgement } from './contract.ts';
import type { Profile, SafeBins } from './safe-bins.ts';
import { usual } from './contract/schema.ts';

/** Config `tools.exec`, of all or of one agent. */
export interface ExecConfig {
  readonly host?: 'auto' | Judgement['host'] | undefined;
  readonly security?: Judgement['security'] | undefined;
  readonly ask?: Judgement['ask'] | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly allowlist?: readonly (string | Entry)[] | undefined;
  readonly safeBins?: readonly string[] | undefined;
  readonly safeBinTrustedDirs?: readonly string[] | undefined;
  readonly safeBinProfiles?: Readonly<Record<string, Profile>> | undefined;
}

/** What counts for one run. `place` of each setting says where it was set. */
export interface Rules {
  readonly agent: string;
  readonly host: 'auto' | Judgement['host'];
  readonly security: Judgement['security'];
  readonly ask: Judgement['ask'];
  readonly places: Readonly<Record<'host' | 'security' | 'ask', string>>;
  readonly lines: readonly { readonly line: string; readonly place: string }[];
  readonly entries: readonly Placed[];
  readonly safeBins: SafeBins;
  /** Whether this run is offered the tool `write`: only then a redirection writes unasked. */
  readonly hasWrite: boolean;
}

export interface Layer {
  readonly path: string;
  readonly config: ExecConfig;
}

/** The agent's own value, else the defaults', else `tools.exec`; the lists of all three. An unknown tier is the stricter one. */
export async function rulesOf(global: ExecConfig, agent: string, run: Run, offer: Pick<Offer, 'tools'>): Promise<Rules> {
  const place = (path: string) => run.get(Host).place(path);
  const layers = layersOf(global, agent, run);
  const pick = <K extends keyof ExecConfig>(key: K) => layers.find(({ config }) => config[key] !== undefined) ?? layers.at(-1);
  const at = (key: 'host' | 'security' | 'ask') => place(`${pick(key)?.path}.${key}`);
  const security = pick('security')?.config.security ?? usual.security;
  const kept = await run.find(Approvals)?.allowlist.list(agent);
  return {
    agent,
    hasWrite: offer.tools.some(({ name }) => name === 'write'),
    host: pick('host')?.config.host ?? usual.host,
    security: security === 'deny' || security === 'full' ? security : 'allowlist',
    ask: pick('ask')?.config.ask ?? usual.ask,
    places: { host: at('host'), security: at('security'), ask: at('ask') },
    lines: layers.flatMap(({ path, config }) => (config.allow ?? []).map((line, i) => ({ line, place: place(`${path}.allow[${i}]`) }))),
    entries: [
      ...layers.flatMap(({ path, config }) =>
        (config.allowlist ?? []).map((one, i) => ({ ...entryOf(one), place: place(`${path}.allowlist[${i}]`) })),
      ),
      ...(kept ?? []).map((one) => ({ ...one, place: `approvals allowlist ${one.id}` })),
    ],
    safeBins: {
      names: pick('safeBins')?.config.safeBins ?? [],
      trustedDirs: layers.flatMap(({ config }) => config.safeBinTrustedDirs ?? []),
      profiles: Object.assign({}, ...layers.toReversed().map(({ config }) => config.safeBinProfiles ?? {})) as SafeBins['profiles'],
    },
  };
}

export const entryOf = (one: string | Entry): Entry => (typeof one === 'string' ? { pattern: one } : one);

/** What was set, the narrowest first. */
export function layersOf(global: ExecConfig, agent: string, run: Run): readonly Layer[] {
  const agents = run.find(Agents);
  const section = (fields: Readonly<Record<string, unknown>> | undefined) =>
    (fields?.['tools'] as { readonly exec?: ExecConfig } | undefined)?.exec;
  const own = agents && section(agents.own(agent));
  const defaults = agents && section(agents.defaults);
  return [
    ...(agents && own ? [{ path: `${agents.path(agent)}.tools.exec`, config: own }] : []),
    ...(defaults ? [{ path: 'agents.defaults.tools.exec', config: defaults }] : []),
    { path: 'tools.exec', config: global },
  ];
}
