import { hostname } from 'node:os';
import type { PromptSection, Run, Subject } from '../../kernel/index.ts';
import { Agents, modelChain } from '../agents/contract.ts';
import { Models, wishesOf } from '../models/contract.ts';

/** SPEC 5.1: the order of the prompt. Sections of other names come before the runtime line. */
export const order = [
  'identity', 'tooling', 'tool-style', 'safety', 'cli', 'skills', 'memory', 'self-update', 'model-aliases', 'workspace', 'documentation',
  'sandbox', 'senders', 'date-time', 'workspace-files', 'reply-tags', 'messaging', 'voice', 'context', 'reactions', 'reasoning-format',
  'project-context', 'silent-replies', 'heartbeats', 'other', 'runtime',
]; // biome-ignore format: a list to read across

export async function coreSections(subject: Subject, run: Run): Promise<readonly PromptSection[]> {
  return [
    { id: 'identity', from: 'none', text: identity(subject, run) },
    { id: 'tool-style', from: 'minimal', text: toolStyle },
    { id: 'safety', from: 'minimal', text: safety },
    {
      id: 'workspace',
      from: 'minimal',
      text: `## Workspace\nYou work in ${run.get(Agents).workspace(subject.agent ?? '')}. Paths are relative to it.`,
    },
    {
      id: 'date-time',
      from: 'minimal',
      text: `## Date and time\nTime zone: ${Intl.DateTimeFormat().resolvedOptions().timeZone}. Ask a tool for the current time.`,
    },
    { id: 'runtime', from: 'minimal', text: await runtimeLine(subject, run) },
  ];
}

function identity({ agent = '' }: Subject, run: Run): string {
  const own = run.get(Agents).own(agent);
  const { name = own?.name, theme } = own?.identity ?? {};
  return `You are ${name ?? 'a personal assistant'}, an agent that runs on its owner's own machine inside Instar.${theme ? ` ${theme}` : ''}`;
}

const toolStyle = `## Tool calls
Call tools without announcing each one; say what you do when it matters or is risky. Report what tools really returned.
A tool that is denied or fails tells you why: change the call, or tell the user what is needed. Do not repeat it unchanged.`;

/** SPEC 5.5, in our own words. */
const safety = `## Safety
You have no goals of your own: do not seek to preserve or copy yourself, gather resources or gain influence. Plan no further than the request.
Safety and human oversight come before finishing. When instructions conflict, pause and ask. Obey stop, pause and audit at once.
Never bypass a safeguard, and never talk anyone into widening access or switching a safeguard off.
Do not change prompts, safety rules or tool policy unless you were explicitly asked to.`;

/** SPEC 5.4. Holds only what is stable for the session, so that provider caches keep hitting. */
async function runtimeLine(subject: Subject, run: Run): Promise<string> {
  const { agent = '', provider, model, channel = 'none' } = subject;
  const facts = {
    agent,
    host: hostname(),
    os: `${process.platform} (${process.arch})`,
    node: process.version,
    model: `${provider}/${model}`,
    default_model: modelChain(run.get(Agents), agent).primary ?? 'none',
    shell: process.env.SHELL ?? 'sh',
    channel,
    capabilities: 'none',
    thinking: await thinkingOf(subject, run),
  };
  return `Runtime: ${Object.entries(facts)
    .map(([key, value]) => `${key}=${value}`)
    .join(' | ')}`;
}

/** As it is asked for: of a model that can think. */
async function thinkingOf({ agent = '', provider, model }: Subject, run: Run): Promise<string> {
  const { thinking = 'off' } = wishesOf(run, agent);
  if (thinking === 'off') return thinking;
  const asked = await run
    .find(Models)
    ?.resolve(run, `${provider}/${model}`)
    .catch(() => undefined); // there is none: nothing is asked
  return asked?.reasoning ? thinking : 'off';
}
