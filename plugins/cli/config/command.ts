import { loadCommand } from '../commands.ts';
import { byVerb, type CommandHost } from '../contract.ts';

const own = 'config ';

/** `instar config <verb>`. A verb of another plugin is an entry `config <verb>` of its `commands.json`. */
export const run = byVerb('config', (host) => ({
  get: () => import('./get.ts'),
  set: () => import('./set.ts'),
  unset: () => import('./unset.ts'),
  edit: () => import('./edit.ts'),
  diff: () => import('./diff.ts'),
  history: () => import('./log.ts'),
  undo: () => import('./undo.ts'),
  path: () => import('./where.ts'),
  ...ofOthers(host),
}));

function ofOthers({ commands }: CommandHost) {
  const theirs = [...commands].filter(([name]) => name.startsWith(own));
  return Object.fromEntries(theirs.map(([name, one]) => [name.slice(own.length), async () => ({ run: await loadCommand(name, one) })]));
}
