import { statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, PromptSections, type Subject } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { readme } from './readme.ts';

const names = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'HEARTBEAT.md', 'MEMORY.md', 'BOOTSTRAP.md'];
/** SPEC 5.3: all that sub-agents and cron get. */
const shared = new Set(['AGENTS.md', 'TOOLS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md']);

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    maxFileChars: { type: 'integer', minimum: 100, default: 20_000, description: 'Longest part of one file in the prompt.' },
    maxTotalChars: { type: 'integer', minimum: 100, default: 60_000, description: 'Longest part of all files together.' },
  },
} as const;

export default definePlugin({
  name: 'workspace-files',
  description: 'AGENTS.md, SOUL.md and the other files of a workspace, as project context in the prompt',
  config: { schema },
  needs: { agents: Agents },
  async setup(ctx) {
    const { agents } = ctx.needs;
    for (const id of agents.ids) await furnish(agents.workspace(id)); // before the first turn, not beside it
    const { maxFileChars = 20_000, maxTotalChars = 60_000 } = ctx.config;
    const files = (subject: Subject) => {
      const small = subject.session === 'subagent' || subject.session === 'cron';
      const folder = agents.workspace(subject.agent ?? agents.defaultId);
      return names.filter((name) => !small || shared.has(name)).map((name) => ({ name, path: join(folder, name) }));
    };
    const read = async ({ subject }: { subject: Subject }) => {
      const texts = await Promise.all(files(subject).map(async ({ name, path }) => ({ name, text: await textOf(path) })));
      return projectContext(
        texts.filter(({ text }) => text.trim()),
        maxFileChars,
        maxTotalChars,
      );
    };
    ctx.tap(
      PromptSections,
      async (sections, run) => {
        const text = await read(run);
        return text ? [...sections, { id: 'project-context', from: 'minimal' as const, text }] : sections;
      },
      {
        version: (subject) =>
          files(subject)
            .map(({ path }) => signature(path))
            .join(),
      },
    );
  },
});

/** A workspace that is not there yet is made, with a page that says what it is. One that is there is left alone. */
async function furnish(folder: string) {
  const made = await mkdir(folder, { recursive: true });
  if (made) await writeFile(join(folder, 'README.md'), readme, { flag: 'wx' });
}

/** Edits take effect with the next turn: one stat per file and turn, no watcher. */
function signature(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs}:${stat.size}:${stat.ino}` : '';
}

const textOf = (path: string) => readFile(path, 'utf8').catch(() => ''); // absent or unreadable: not part of the prompt

function projectContext(files: readonly { readonly name: string; readonly text: string }[], perFile: number, total: number): string {
  let left = total;
  const parts = files.map(({ name, text }) => {
    const room = Math.min(perFile, left);
    left -= Math.min(text.length, room);
    const cut = text.length - room;
    return `### ${name}\n${cut > 0 ? `${text.slice(0, room)}\n[cut: ${cut} more characters of ${name}]` : text.trimEnd()}`;
  });
  return parts.length ? `## Project context\nFiles of the workspace, as their owner wrote them.\n\n${parts.join('\n\n')}` : '';
}
