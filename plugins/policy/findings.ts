import { Host, nearest, type Offer, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Finding, ToolAbsences } from './contract.ts';
import { catalogTools, groups, isPluginTool, pluginGroup } from './groups.ts';
import { type List, listsOf, placesOf } from './lists.ts';
import { names } from './patterns.ts';
import { isOurs } from './removal.ts';
import type { ToolConfig } from './rules.ts';
import { audience, usualModel } from './subject.ts';

type Told = Omit<Finding, 'place'>;
type Offers = ReadonlyMap<string, Offer>;

/** By config: what was found for these very offers. Offers are kept per generation, so status and page cost nothing. */
const kept = new WeakMap<ToolConfig, { readonly offers: Offers; readonly told: readonly Told[] }>();

/** What in the rules is most likely not meant, of all agents. */
export async function findingsOf(run: Run, config: ToolConfig): Promise<readonly Finding[]> {
  const offers = await offersOf(run);
  let last = kept.get(config);
  if (!last || !isSame(last.offers, offers)) kept.set(config, (last = { offers, told: await find(run, config, offers) }));
  return last.told.map((one) => ({ ...one, place: run.get(Host).place(one.path) }));
}

const isSame = (one: Offers, other: Offers) => one.size === other.size && [...one].every(([agent, offer]) => other.get(agent) === offer);

async function find(run: Run, config: ToolConfig, offers: Offers): Promise<readonly Told[]> {
  const here = new Set(
    [...offers.values()].flatMap(({ tools, removed }) => [...tools.map(({ name }) => name), ...removed.map(({ tool }) => tool)]),
  );
  const absent = (await run.call(ToolAbsences, [])).map(({ tool }) => tool);
  const known = new Set([...here, ...catalogTools, ...absent, 'pdf', 'whatsapp_login']);
  const places = placesOf(run.find(Agents), config);
  const byName = places.flatMap((one) => listsOf(one)).flatMap((list) => nameFindings(list, here, known));
  const said = new Set(byName.flatMap(({ code, path }) => (code === 'names-nothing' ? [path] : [])));
  return [
    ...byName,
    ...withoutProfile(config, places),
    ...[...offers].flatMap(([agent, offer]) => emptyOffer(agent, offer, said)),
    ...hidden(offers, run.get(Host)),
  ];
}

/** What each agent has when its owner speaks to it. */
async function offersOf(run: Run): Promise<Offers> {
  const agents = run.find(Agents);
  const ids = agents?.ids ?? ['main'];
  const offers = ids.map(async (agent) => {
    const subject = { ...audience['owner'], agent, ...(agents && (await usualModel(run, agent))) };
    return [agent, await run.as({ subject }).tools()] as const;
  });
  return new Map(await Promise.all(offers));
}

/** So many of one list are told by name. */
const most = 5;

/** What nobody knows is another thing than what is known and not here. */
function nameFindings({ path, patterns, isAllow }: List, here: ReadonlySet<string>, known: ReadonlySet<string>): readonly Told[] {
  const fits = (pattern: string, tools: ReadonlySet<string>) => tools.values().some((tool) => names(pattern, tool));
  const told = (all: readonly string[]) => {
    const some = all.slice(0, most).map((pattern) => described(pattern, known, fits));
    return [...some, ...(all.length > most ? [`and ${all.length - most} more`] : [])].join(', ');
  };
  if (isAllow && patterns.length > 0 && here.size > 0 && !patterns.some((pattern) => mayCome(pattern) || fits(pattern, here)))
    return [{ code: 'names-nothing', path, message: `${path} names no tool that is here, so it leaves none: ${told(patterns)}` }];
  const unknown = patterns.filter((pattern) => isUnknown(pattern, known, fits));
  if (unknown.length > most) return [{ code: 'unknown-name', path, message: `${path} names ${told(unknown)}` }];
  return unknown.map((pattern) => ({
    code: 'unknown-name',
    path: `${path}[${patterns.indexOf(pattern)}]`,
    message: `${path} names ${told([pattern])}`,
  }));
}

type Fits = (pattern: string, tools: ReadonlySet<string>) => boolean;

/** Tools of servers come and go: `server__tool` may be right though it is not here now. */
const mayCome = (pattern: string) => pattern.includes('__') || pattern.trim().toLowerCase() === pluginGroup;
const isGroup = (pattern: string) => Object.hasOwn(groups, pattern.trim().toLowerCase());
const isUnknown = (pattern: string, known: ReadonlySet<string>, fits: Fits) =>
  !mayCome(pattern) && !isGroup(pattern) && !fits(pattern, known);

function described(pattern: string, known: ReadonlySet<string>, fits: Fits): string {
  if (!isUnknown(pattern, known, fits)) return `"${pattern}", which is known but not here ("instar tools explain" says why)`;
  const near = pattern.includes('*') ? undefined : nearest(pattern, [...known, ...Object.keys(groups), pluginGroup]);
  return `"${pattern}", which nobody knows${near ? `; did you mean "${near}"?` : ''}`;
}

/** `alsoAllow` adds to a profile, and there is none. */
function withoutProfile(config: ToolConfig, places: ReturnType<typeof placesOf>): readonly Told[] {
  const hasAny = places.some(({ rules }) => rules.profile !== undefined);
  return places.flatMap(({ path, rules }) => {
    const counts = path === 'tools' ? hasAny : (rules.profile ?? config.profile) !== undefined;
    if (!rules.alsoAllow?.length || counts) return [];
    const message = `${path}.alsoAllow adds to a profile, and none is set: it changes nothing; set ${path}.profile or use allow`;
    return [{ code: 'no-profile', path: `${path}.alsoAllow`, message } as const];
  });
}

/** Said once: a list that names nothing says it already. */
function emptyOffer(agent: string, { tools, removed }: Offer, said: ReadonlySet<string>): readonly Told[] {
  const last = removed.findLast((one) => isOurs(one));
  if (tools.length > 0 || !last || !isOurs(last) || said.has(last.path ?? '')) return [];
  const others = removed.length > 1 ? ` and ${removed.length - 1} more` : '';
  const message = `agent "${agent}" has no tool left: ${last.tool}${others} went, the last one because: ${last.why}`;
  return [{ code: 'no-tools', agent, path: last.path ?? 'tools', message }];
}

/** What somebody set up, and a profile hides from every agent. */
function hidden(offers: Offers, host: Host): readonly Told[] {
  const all = [...offers.values()];
  const [first] = all;
  const byProfile = (first?.removed ?? []).filter((one) => isOurs(one) && one.path?.endsWith('.profile'));
  const isConfigured = (tool: string) => tool === 'exec' && host.place('tools.exec') !== host.place('tools');
  const wanted = byProfile.filter(({ tool }) => isPluginTool(tool) || isConfigured(tool));
  const everywhere = wanted.filter(({ tool }) => all.every(({ removed }) => removed.some((one) => one.tool === tool)));
  if (everywhere.length === 0) return [];
  const path = everywhere.flatMap((one) => (isOurs(one) ? (one.path ?? []) : []))[0] ?? 'tools.profile';
  const listed = everywhere.map(({ tool }) => tool);
  const some = listed.length > 5 ? `${listed.slice(0, 5).join(', ')} and ${listed.length - 5} more` : listed.join(', ');
  const cure = `${path.replace(/profile$/, 'alsoAllow')}: [${listed
    .slice(0, 5)
    .map((tool) => `"${tool}"`)
    .join(', ')}]`;
  return [{ code: 'hidden', path, message: `${path} hides what is set up here: ${some}; to offer it, ${cure}` }];
}
