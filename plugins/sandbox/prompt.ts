import type { PromptSection, Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { insideWorkspace } from './contract.ts';
import { settingsOf } from './settings.ts';

const access = {
  none: 'a folder of its own, to read and write',
  ro: 'read-only; write what you make to /tmp',
  rw: 'to read and write',
};

/** What a sandboxed turn is told. Names the workspace as it is inside: the path outside may differ from session to session. */
export function sandboxSections(sections: readonly PromptSection[], run: Run): readonly PromptSection[] {
  if (!run.subject.sandboxed) return sections;
  const { workspaceAccess, network } = settingsOf(run.subject.agent ?? run.get(Agents).defaultId, run);
  const text = `## Sandbox
Commands and file tools run in a sandbox. Its workspace is ${insideWorkspace}: ${access[workspaceAccess]}. Commands start there; of the
machine they see only the system's programs, ${network ? 'and they reach the network' : 'and they have no network'}. Do not try to leave it: ask the user for what is missing.`;
  const workspace = `## Workspace\nYou work in ${insideWorkspace}. Paths are relative to it.`;
  const others = sections.map((section) => (section.id === 'workspace' ? { ...section, text: workspace } : section));
  return [...others, { id: 'sandbox', from: 'minimal', text }];
}
