import type { Subject } from '../../kernel/index.ts';
import { findPattern, type Profile, profiles } from './groups.ts';

/** What one place in the config says about tools. */
export interface ToolRules {
  readonly profile?: Profile | undefined;
  /** Adds to the profile, and to nothing else. */
  readonly alsoAllow?: readonly string[] | undefined;
  /** Only these. An empty list is a list: it allows nothing. */
  readonly allow?: readonly string[] | undefined;
  /** Wins over `allow`. */
  readonly deny?: readonly string[] | undefined;
}

/** Config `tools`, globally or of one agent. */
export interface ToolConfig extends ToolRules {
  /** By `provider` or `provider/model`. */
  readonly byProvider?: Readonly<Record<string, ToolRules>> | undefined;
}

/** A config with its path, e.g. `agents.list[0].tools`. */
export interface Placed {
  readonly path: string;
  readonly config: ToolConfig;
}

/** Why a tool is not available, and the config path that says so. */
export interface Refusal {
  readonly why: string;
  readonly path: string;
}

interface Layer {
  readonly path: string;
  readonly rules: ToolRules;
}

/** SPEC 3.4: profile, provider's profile, allow and deny, provider's, the agent's, its provider's. The first refusal stands. */
export function refusalOf(tool: string, subject: Subject, global: Placed, agent: Placed | undefined): Refusal | undefined {
  const providers = [global, agent].flatMap((placed) => (placed ? providerLayers(placed, subject) : []));
  const layers = [global, agent].flatMap((placed) => (placed ? [layerOf(placed), ...providerLayers(placed, subject)] : []));
  const byProfile = [mainProfile(global, agent), ...providers].map((layer) => outsideProfile(tool, layer));
  const byList = layers.map((layer) => outsideLists(tool, layer));
  return [...byProfile, ...byList].find((refusal) => refusal !== undefined);
}

/** The agent's own profile replaces the global one; both may add to it. */
function mainProfile(global: Placed, agent: Placed | undefined): Layer {
  const { path, config } = agent?.config.profile === undefined ? global : agent;
  const alsoAllow = [global, agent].flatMap((placed) => placed?.config.alsoAllow ?? []);
  return { path, rules: { profile: config.profile, alsoAllow } };
}

const layerOf = ({ path, config }: Placed): Layer => ({ path, rules: config });

function providerLayers({ path, config }: Placed, { provider, model }: Subject): readonly Layer[] {
  const keys = provider === undefined ? [] : [provider, ...(model === undefined ? [] : [`${provider}/${model}`])];
  return keys.flatMap((key) => {
    const rules = config.byProvider?.[key];
    return rules ? [{ path: `${path}.byProvider${keyed(key)}`, rules }] : [];
  });
}

const keyed = (key: string) => (/^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

function outsideProfile(tool: string, { path, rules }: Layer): Refusal | undefined {
  const { profile, alsoAllow = [] } = rules;
  if (profile === undefined || findPattern([...profiles[profile], ...alsoAllow], tool) >= 0) return undefined;
  return { why: `not part of profile "${profile}" (${path}.alsoAllow can add it)`, path: `${path}.profile` };
}

function outsideLists(tool: string, { path, rules: { allow, deny = [] } }: Layer): Refusal | undefined {
  const denied = findPattern(deny, tool);
  if (denied >= 0) return { why: `${path}.deny names "${deny[denied]}"`, path: `${path}.deny[${denied}]` };
  if (allow === undefined || findPattern(allow, tool) >= 0) return undefined;
  return { why: `not on the list ${path}.allow`, path: `${path}.allow` };
}
