import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isCoded } from '../../../kernel/index.ts';

/** The files of a new workspace: short, to be written on. The agent is shown them with every message. */
const pages = (name: string): Readonly<Record<string, string>> => ({
  'AGENTS.md': `# Rules

What ${name} does and how. One rule a line; the fewer, the better they are kept.

- Read the files of this workspace before you ask what they would tell.
- Ask before you do anything that cannot be undone, or that reaches people other than the one you talk to.
- When you do not know, say so.
`,
  'SOUL.md': `# Persona

How ${name} speaks and what it cares about.

- Tone: plain and friendly; short answers first, details on request.
- Language: that of the person who writes.
`,
  'IDENTITY.md': `# Identity

- Name: ${name}
- Role:
- Sign:
`,
  'USER.md': `# The user

What ${name} should know about the people it works for.

- Name:
- How to address them:
- Time zone:
- What they work on:
`,
  'TOOLS.md': `# Notes on tools

Facts about this machine and its tools: hosts, folders, names of devices, commands that work. No passwords or keys.
`,
  'HEARTBEAT.md': `# Heartbeat

What to look at when nobody asked, one line each. With no line here a heartbeat does nothing.
`,
});

export interface Written {
  readonly written: readonly string[];
  /** There already, and left as they are. */
  readonly kept: readonly string[];
}

/** Never touches a file that is there. */
export async function writePages(folder: string, name: string): Promise<Written> {
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  const kept: string[] = [];
  for (const [file, text] of Object.entries(pages(name))) {
    const isNew = await writeFile(join(folder, file), text, { flag: 'wx' }).then(
      () => true,
      (error: unknown) => {
        if (isCoded(error) && error.code === 'EEXIST') return false;
        throw error;
      },
    );
    (isNew ? written : kept).push(file);
  }
  return { written, kept };
}
