import { definePlugin, type Offer, PromptSections, type PromptSection, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type BuiltSection, Prompt, type PromptMode } from './contract.ts';
import { coreSections, order } from './sections.ts';

export default definePlugin({
  name: 'prompt',
  description: 'The system prompt: sections of all plugins, in a fixed order',
  required: true,
  needs: { agents: Agents }, // its sections hold facts of agents: a change there must rebuild them
  provides: [Prompt],
  setup(ctx) {
    ctx.tap(PromptSections, async (sections, run) => [...sections, ...(await coreSections(run.subject, run))]);
    ctx.provide(Prompt, { build });
  },
});

type Built = Awaited<ReturnType<Prompt['build']>>;
const built = new WeakMap<readonly PromptSection[], Map<string, Built>>();

/** Kept as long as sections and tools stay the very same objects, which they do while nothing changed. */
async function build(run: Run, mode: PromptMode): Promise<Built> {
  const [sections, offer] = await Promise.all([run.sections(), run.tools()]);
  const kept = built.get(sections) ?? new Map<string, Built>();
  built.set(sections, kept);
  const tooling = toolingText(offer);
  const key = `${mode}\n${tooling}`;
  const known = kept.get(key) ?? assemble([...sections, { id: 'tooling', from: 'minimal', text: tooling }], mode);
  kept.set(key, known);
  return known;
}

function toolingText({ tools }: Offer): string {
  if (tools.length === 0) return '## Tools\nYou have no tools here: answer from what you are given, and say so when a request needs one.';
  return `## Tools\nYou can call: ${tools.map((tool) => tool.name).join(', ')}. Their schemas come with each request.`;
}

const modes: readonly PromptMode[] = ['none', 'minimal', 'full'];

function assemble(sections: readonly PromptSection[], mode: PromptMode): Built {
  const place = (id: string) => (order.includes(id) ? order.indexOf(id) : order.indexOf('other'));
  const shown = sections
    .filter((section) => section.text.trim() && modes.indexOf(section.from ?? 'full') <= modes.indexOf(mode))
    .toSorted((a, b) => place(a.id) - place(b.id))
    .map(({ id, text }): BuiltSection => ({ id, text }));
  return { text: shown.map((section) => section.text).join('\n\n'), sections: shown };
}
