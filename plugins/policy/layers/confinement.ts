import { isOpen, names } from '../patterns.ts';
import { type Confined, isSubagent, type Judged, type Layer, type Placed, type Refusal, type Standing } from '../rules.ts';
import { refusedByLists, widened } from './config.ts';

/** Reach out of the sandbox: to the gateway, to timers, to other devices, to what is on the host's screen. */
const lostInSandbox = ['gateway', 'cron', 'nodes', 'browser', 'canvas'];
/** SPEC 3.5: the parent's business. */
const lostBySubagents = [
  'gateway',
  'agents_list',
  'whatsapp_login',
  'session_status',
  'cron',
  'memory_search',
  'memory_get',
  'sessions_send',
];
/** SPEC 3.5: the ability is absent, and no rule gives it back. */
const lostByLeaves = ['sessions_spawn', 'subagents', 'sessions_list', 'sessions_history'];

/** SPEC 3.5: sandbox, then sub-agent. */
export const confinement: Layer = {
  id: 'confinement',
  stage: 50,
  judge: (tool, standing) => inSandbox(tool, standing) ?? asSubagent(tool, standing),
  judgeCall({ name }, { runtime, sandbox }, { subject }) {
    if (name !== 'sessions_spawn' || !subject.sandboxed) return undefined;
    const rule = 'sandbox';
    if (runtime === 'acp') return refusal('a sandboxed session starts no ACP agent: it would run outside the sandbox', rule);
    if (sandbox === 'off' || sandbox === false) return refusal('a sandboxed session starts no child outside the sandbox', rule);
    return undefined;
  },
};

function inSandbox({ name }: Judged, { subject, ruling }: Standing): Refusal | undefined {
  if (!subject.sandboxed) return undefined;
  const own = subject.agent === undefined ? undefined : ruling.agent(subject.agent);
  const places = [own, ruling.tools].flatMap((place) => {
    const rules = place?.rules.sandbox?.tools;
    return place && rules ? [{ path: `${place.path}.sandbox.tools`, rules }] : [];
  });
  return confinedBy(name, inSandboxes, places);
}

function asSubagent({ name }: Judged, { subject, ruling }: Standing): Refusal | undefined {
  if (!isSubagent(subject)) return undefined;
  if (lostByLeaves.includes(name)) {
    const { depth, path } = ruling.maxSpawnDepth(subject.agent ?? '');
    const at = Math.max(subject.depth ?? 1, 1);
    if (at >= depth) return refusal(`a leaf has no children: depth ${at} of at most ${depth}`, 'leaf', path);
  }
  const rules = ruling.tools.rules.subagents?.tools;
  return confinedBy(name, ofSubagents, rules ? [{ path: ofSubagents.path, rules }] : []);
}

interface Confinement {
  readonly who: string;
  readonly lost: readonly string[];
  readonly path: string;
}
const inSandboxes: Confinement = { who: 'sandboxed session', lost: lostInSandbox, path: 'tools.sandbox.tools' };
const ofSubagents: Confinement = { who: 'sub-agent', lost: lostBySubagents, path: 'tools.subagents.tools' };

/** Every place's lists; then what is lost by default, which comes back only where a list names the tool itself. */
function confinedBy(tool: string, { who, lost, path }: Confinement, places: readonly Placed<Confined>[]): Refusal | undefined {
  for (const place of places) {
    const refused = refusedByLists(tool, widened(place));
    if (refused) return { ...refused, layer: 'confinement' };
  }
  if (!lost.includes(tool) || places.some(({ rules }) => isGivenBack(tool, rules))) return undefined;
  return refusal(`a ${who} does not have it by default (${path}.alsoAllow can give it back)`, `${who} default`);
}

const isGivenBack = (tool: string, { allow = [], alsoAllow = [] }: Confined) =>
  [...allow, ...alsoAllow].some((pattern) => !isOpen(pattern) && names(pattern, tool));

const refusal = (why: string, rule: string, path?: string): Refusal => ({
  layer: 'confinement',
  why,
  rule,
  ...(path !== undefined && { path }),
});
