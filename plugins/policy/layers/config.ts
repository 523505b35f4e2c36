import type { Subject } from '../../../kernel/index.ts';
import { joinKey } from '../../../kernel/index.ts';
import { profiles } from '../groups.ts';
import { findPattern } from '../patterns.ts';
import type { Confined, Layer, Placed, Refusal, Standing, ToolConfig, ToolRules } from '../rules.ts';

/** SPEC 3.4: profile, provider's profile, allow and deny, provider's, the agent's, its provider's, the group's. The first refusal stands. */
export const config: Layer = {
  id: 'config',
  stage: 40,
  judge({ name }, standing) {
    for (const step of stepsOf(standing)) {
      const refusal = step(name);
      if (refusal) return refusal;
    }
    return undefined;
  },
};

type Step = (tool: string) => Refusal | undefined;
const steps = new WeakMap<Standing, readonly Step[]>();

/** Found once for all the tools of a standing. */
function stepsOf(standing: Standing): readonly Step[] {
  const known = steps.get(standing);
  if (known) return known;
  const made = [...profileSteps(standing), ...listSteps(standing)];
  steps.set(standing, made);
  return made;
}

const placesOf = ({ subject: { agent }, ruling }: Standing): readonly Placed[] => {
  const own = agent === undefined ? undefined : ruling.agent(agent);
  return own ? [ruling.tools, own] : [ruling.tools];
};

/** The agent's own profile replaces the global one, and a model's that of its provider; `alsoAllow` likewise. */
function profileSteps(standing: Standing): readonly Step[] {
  const places = placesOf(standing);
  const providers = places.flatMap((place) => providerRules(place, standing.subject));
  return [places, providers].flatMap((all: readonly Placed<ToolRules>[]) => {
    const from = all.findLast(({ rules }) => rules.profile !== undefined);
    const profile = from?.rules.profile;
    if (!from || profile === undefined) return [];
    const more = all.findLast(({ rules }) => rules.alsoAllow !== undefined)?.rules.alsoAllow ?? [];
    const refusal = outside(profile, from);
    return [(tool: string) => (findPattern(profiles[profile], tool) >= 0 || findPattern(more, tool) >= 0 ? undefined : refusal)];
  });
}

function outside(profile: string, { path }: Placed<ToolRules>): Refusal {
  const why = `not part of profile "${profile}" (${path}.alsoAllow can add it)`;
  return { layer: 'config', why, rule: `profile ${profile}`, path: `${path}.profile` };
}

function listSteps(standing: Standing): readonly Step[] {
  const own = placesOf(standing).flatMap((place): readonly Placed<ToolRules>[] => [place, ...providerRules(place, standing.subject)]);
  const { group } = standing;
  return [...own, ...(group ? [widened(group)] : [])].map((place) => (tool: string) => refusedByLists(tool, place));
}

function providerRules(
  { path, rules: { byProvider = {} } }: Placed<ToolConfig>,
  { provider, model }: Subject,
): readonly Placed<ToolRules>[] {
  if (provider === undefined) return [];
  const wanted = [provider, ...(model === undefined ? [] : [`${provider}/${model}`])].map((key) => key.toLowerCase());
  const isWanted = (key: string, word: string) => key.trim().toLowerCase() === word;
  return wanted.flatMap((word) =>
    Object.entries(byProvider)
      .filter(([key]) => isWanted(key, word))
      .map(([key, rules]) => ({ path: joinKey(`${path}.byProvider`, key), rules })),
  );
}

/** Deny wins; then what a list does not name is refused. */
export function refusedByLists(
  tool: string,
  { path, rules: { allow, deny = [] } }: Placed<Omit<ToolRules, 'profile'>>,
): Refusal | undefined {
  const denied = findPattern(deny, tool);
  if (denied >= 0) return { layer: 'config', why: `${path}.deny names "${deny[denied]}"`, rule: 'deny', path: `${path}.deny[${denied}]` };
  if (allow === undefined || findPattern(allow, tool) >= 0) return undefined;
  return { layer: 'config', why: `not on the list ${path}.allow`, rule: 'allow', path: `${path}.allow` };
}

const merged = new WeakMap<Confined, Confined>();

/** `alsoAllow` never restricts: what it names is on the list too. */
export function widened({ path, rules }: Placed<Confined>): Placed<Confined> {
  if (!rules.allow || !rules.alsoAllow) return { path, rules };
  let both = merged.get(rules);
  if (!both) merged.set(rules, (both = { ...rules, allow: [...rules.allow, ...rules.alsoAllow] }));
  return { path, rules: both };
}
