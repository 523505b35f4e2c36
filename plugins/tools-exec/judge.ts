import { realpath } from 'node:fs/promises';
import type { Judgement } from './contract.ts';
import { filesOf, mentionParts } from './mentions.ts';
import { type Parsed, parseCommand } from './parse.ts';
import { type Grant, plan, type PlannedStep } from './plan.ts';
import { openSight, type Prints } from './prints.ts';
import type { Rules } from './rules.ts';

/** What is to be judged, and where it would run. */
export interface Case {
  /** As the model wrote it. */
  readonly command: string;
  /** All that is shown and, by a shell, executed: folder and variables are part of it. */
  readonly script: string;
  /** Variables that the model sets: only a shell path takes them. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly workspace: string;
  readonly path: string;
  readonly needsShell?: string | undefined;
}

/** A judgement together with what is executed on it. */
export interface Judged extends Judgement {
  readonly plan?: readonly PlannedStep[];
  /** Entries by which "always" would let it pass from then on; absent where nothing can be granted. */
  readonly grants?: readonly Grant[];
  /** Files that decide what happens, as they were when it was judged. */
  readonly bound: Prints;
}

export async function judge(given: Case, rules: Rules, sandboxed: boolean): Promise<Judged> {
  const host = hostOf(rules, sandboxed);
  const { security, ask, places } = rules;
  const base = { host, security, ask, text: given.script, parts: [], shellOnly: [], bound: new Map<string, string>() } as const;
  if (host === 'sandbox') {
    if (!sandboxed)
      return { ...base, kind: 'deny', runs: 'shell', why: 'tools.exec.host is "sandbox", and this session has none', rule: places.host };
    return { ...base, kind: 'allow', runs: 'shell', why: 'it runs in the sandbox', rule: places.host };
  }
  if (host === 'node')
    return { ...base, kind: 'deny', runs: 'shell', why: 'tools.exec.host is "node", and no node is connected', rule: places.host };
  if (security === 'deny') return { ...base, kind: 'deny', runs: 'shell', why: 'tools.exec.security is "deny"', rule: places.security };
  if (security === 'full' && ask !== 'always')
    return { ...base, kind: 'allow', runs: 'shell', why: 'tools.exec.security is "full"', rule: places.security };
  return byText(given, rules, base);
}

/** A sandboxed session never leaves its sandbox: confinement only grows. */
function hostOf({ host }: Rules, sandboxed: boolean): Judgement['host'] {
  if (sandboxed) return 'sandbox';
  return host === 'auto' ? 'gateway' : host;
}

/** All of them are compared again before the start. */
const maxFiles = 200;
/** Each may name a file, to be looked up and compared with what others write. */
const maxWords = 1_000;

type Base = Pick<Judged, 'host' | 'security' | 'ask' | 'text'>;

async function byText(given: Case, rules: Rules, base: Base): Promise<Judged> {
  const parsed = await parseCommand(given.command);
  const refuse = (why: string): Judged => ({
    ...base,
    kind: 'deny',
    runs: 'shell',
    parts: [],
    shellOnly: [],
    bound: new Map(),
    rule: rules.places.security,
    why: `${why} that can be judged at once; do it in smaller steps`,
  });
  const tooMuch = excessOf(parsed);
  if (tooMuch) return refuse(tooMuch);
  const shellOnly = [
    ...parsed.shellOnly,
    ...(given.needsShell ? [given.needsShell] : []),
    ...(Object.keys(given.env).length > 0 ? ['variables of its own'] : []),
  ];
  const workspace = await realpath(given.workspace).catch(() => given.workspace);
  const scene = { ...given, workspace, sight: openSight() };
  const planned = shellOnly.length === 0 && parsed.steps ? await plan(parsed.steps, scene, rules) : undefined;
  const steps = planned && planned.shellOnly.length === 0 ? planned.steps : undefined;
  const told = steps
    ? steps.flatMap(({ commands }) => commands.flatMap(({ programs, scripts }) => [...programs, ...scripts]))
    : await filesOf(parsed.mentions, scene);
  const files = new Set(told);
  if (files.size > maxFiles) return refuse(`it names ${files.size} programs and files, more than the ${maxFiles}`);
  const parts = planned?.parts ?? (await mentionParts(parsed.mentions, scene, rules));
  const bound = await scene.sight.prints(files);
  const grants = planned?.grants;
  const common = {
    ...base,
    parts,
    shellOnly: [...shellOnly, ...(planned?.shellOnly ?? [])],
    bound,
    runs: steps ? 'plan' : 'shell',
    ...(steps && { plan: steps }),
  } as const;
  const miss = parts.find(({ isAllowed }) => !isAllowed);
  const isListed = steps !== undefined && parts.length > 0 && miss === undefined;
  const why = isListed
    ? 'every part is allowed'
    : miss
      ? `${short(miss.text)}: ${miss.why}`
      : `it needs a shell for ${common.shellOnly.join(', ')}`;
  const always = { ...(steps && grants && grants.length > 0 && { grants }) };
  if (rules.ask === 'always') return { ...common, kind: 'ask', why: `tools.exec.ask is "always"`, rule: rules.places.ask };
  if (isListed) return { ...common, kind: 'allow', why, rule: parts[0]?.why ?? rules.places.security };
  if (rules.ask === 'on-miss') return { ...common, ...always, kind: 'ask', why, rule: rules.places.security };
  return { ...common, kind: 'deny', why: `${why}, and tools.exec.ask is "off"`, rule: rules.places.ask };
}

/** What makes it more than we look up, told before anything is. */
function excessOf({ mentions }: Parsed): string | undefined {
  if (mentions.length > maxFiles) return `it names ${mentions.length} programs and files, more than the ${maxFiles}`;
  const longest = Math.max(0, ...mentions.map(({ words }) => words.length));
  if (longest > maxFiles) return `a command of it has ${longest} words, more than the ${maxFiles}`;
  const words = mentions.reduce((sum, mention) => sum + mention.words.length, 0);
  return words > maxWords ? `it has ${words} words, more than the ${maxWords}` : undefined;
}

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
