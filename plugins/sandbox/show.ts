import { homedir } from 'node:os';
import { relative } from 'node:path';
import { bold, columns, dim, plain } from '../cli/contract.ts';
import { insideWorkspace, type SandboxExplained } from './contract.ts';

const access = {
  none: 'a folder of its own',
  ro: "the agent's own, read-only",
  rw: "the agent's own, to read and write",
};
const shares = { session: 'this session alone', agent: "all of the agent's sandboxed sessions", shared: 'all agents with this scope' };

/** The verdict first, then what isolates, then what can be reached. */
export function show({ agentId, sessions, backends, world }: SandboxExplained): string {
  return columns([
    { label: 'agent', value: bold(plain(agentId)) },
    ...sessions.flatMap(({ session, isSandboxed, why, place }, i) => [
      { label: i === 0 ? 'sandboxed' : '', value: `${bold(isSandboxed ? 'yes' : 'no')}  ${plain(session)}` },
      ...(i === sessions.length - 1 || sessions[i + 1]?.why !== why
        ? [{ label: '', value: `${dim(plain(why))}  ${dim(short(place))}` }]
        : []),
    ]),
    ...backends.map(({ name, says, isUsed, works }, i) => ({
      label: i === 0 ? 'backend' : '',
      value: `${isUsed ? bold(plain(name)) : plain(name)}  ${plain(mark(isUsed, works))}${plain(says)}`,
    })),
    ...(world && !backends.some(({ isUsed }) => isUsed)
      ? [{ label: 'refused', value: bold('nothing runs in a sandboxed session until a backend works') }]
      : []),
    ...(world ? worldLines(world) : []),
  ]);
}

const mark = (isUsed: boolean, works: boolean) => (isUsed ? 'in use: ' : works ? 'not in use: ' : '');

function worldLines({ workspace, workspaceAccess, scope, network, readable, limits, notes }: NonNullable<SandboxExplained['world']>) {
  return [
    {
      label: 'workspace',
      value: `${insideWorkspace} is ${short(workspace)}: ${access[workspaceAccess]} ${dim(`(workspaceAccess "${workspaceAccess}")`)}`,
    },
    { label: '/tmp, home', value: `kept for ${shares[scope]} ${dim(`(scope "${scope}")`)}` },
    { label: 'network', value: network ? 'yes' : 'none' },
    { label: 'readable', value: ['programs and libraries of the system', ...readable.map(plain)].join(', ') },
    { label: 'limits', value: `${limits.memoryMb} MB memory, ${limits.processes} processes, files of ${limits.fileMb} MB` },
    ...notes.map((note, i) => ({ label: i === 0 ? 'note' : '', value: plain(note) })),
  ];
}

/** From the folder where the person is, or from home, where that is shorter. */
function short(path: string): string {
  if (!path.startsWith('/')) return plain(path);
  const ways = [path, relative(process.cwd(), path), path.startsWith(`${homedir()}/`) ? `~${path.slice(homedir().length)}` : path];
  return plain(ways.filter(Boolean).toSorted((a, b) => a.length - b.length)[0] ?? path);
}
