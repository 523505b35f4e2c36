import { constants, statSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, isCoded, PromptSections, type Run, type Subject } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { PathGuard } from '../tools-fs/contract.ts';
import { readme } from './readme.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
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
    const { maxFileChars, maxTotalChars } = ctx.config;
    const signature = signatures();
    const folderOf = (subject: Subject) => agents.workspace(subject.agent ?? agents.defaultId);
    const files = (subject: Subject) => {
      const small = subject.session === 'subagent' || subject.session === 'cron';
      return names.filter((name) => !small || shared.has(name)).map((name) => ({ name, path: join(folderOf(subject), name) }));
    };
    const read = async (run: Run) => {
      const [{ subject }, folder] = [run, folderOf(run.subject)];
      const texts = await Promise.all(files(subject).map(async ({ name }) => ({ name, text: await textOf(folder, name, run) })));
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
      { version: (subject) => signature(folderOf(subject)) },
    );
  },
});

/** A workspace that is not there yet is made, with a page that says what it is. One that is there is left alone. */
async function furnish(folder: string) {
  const made = await mkdir(folder, { recursive: true });
  if (made) await writeFile(join(folder, 'README.md'), readme, { flag: 'wx' });
}

/**
 * Edits take effect with the next turn, without a watcher: the folder's own time tells which files came or went, so only
 * those that are there need a look of their own.
 */
function signatures() {
  const folders = new Map<string, { readonly changed: number; readonly present: readonly string[] }>();
  return (folder: string): string => {
    const changed = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const known = folders.get(folder);
    const paths = known?.changed === changed ? known.present : names.map((name) => join(folder, name));
    const there = paths.flatMap((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? [{ path, text: `${path}:${stat.mtimeMs}:${stat.size}:${stat.ino}` }] : [];
    });
    folders.set(folder, { changed, present: there.map(({ path }) => path) });
    return there.map(({ text }) => text).join();
  };
}

/** What an agent can write it can also make a link or a pipe: neither may bring other files of this machine into the prompt, or hold it up. */
async function textOf(folder: string, name: string, run: Run): Promise<string> {
  try {
    const guard = run.find(PathGuard);
    await using file = guard
      ? (await guard.open(folder, name, run)).handle
      : await open(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return (await file.stat()).isFile() ? await file.readFile('utf8') : '';
  } catch (error) {
    const leads = isCoded(error) && ['PATH_OUTSIDE', 'PATH_CLOSED', 'ELOOP'].includes(error.code);
    return leads ? '[left out: it is a link that leads outside the workspace]' : ''; // absent or unreadable: not part of the prompt
  }
}

function projectContext(files: readonly { readonly name: string; readonly text: string }[], perFile: number, total: number): string {
  let left = total;
  const parts = files.map(({ name, text }) => {
    const room = Math.min(perFile, left);
    left -= Math.min(text.length, room);
    const cut = text.length - room;
    return `### ${name}\n${cut > 0 ? `${text.slice(0, room).toWellFormed()}\n[cut: ${cut} more characters of ${name}]` : text.trimEnd()}`;
  });
  return parts.length ? `## Project context\nFiles of the workspace, as their owner wrote them.\n\n${parts.join('\n\n')}` : '';
}
