import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { KernelError } from '../../kernel/index.ts';
import type { NamedFiles } from '../tools-fs/contract.ts';
import type { ServerSettings } from './settings.ts';

/** The absolute path of a command; by PATH where it is a bare name. */
export async function programAt(command: string, cwd: string, path: string): Promise<string> {
  const named = atHome(command);
  const places = named.includes('/')
    ? [resolve(cwd, named)]
    : path
        .split(':')
        .filter(isAbsolute)
        .map((folder) => join(folder, named));
  for (const place of places) if (await isProgram(place)) return place;
  const where = named.includes('/') ? 'there is no such program' : 'it is in no folder of PATH';
  throw new KernelError('MCP_LAUNCH', `"${command}" was not found: ${where}`);
}

const atHome = (command: string) => command.replace(/^~(?=\/)/, homedir());

/** What a server is started from: whoever changes it is the server. */
export const programsOf = ({ command, args = [], cwd }: ServerSettings, home: string): NamedFiles['programs'] =>
  command === undefined ? [] : [{ command: atHome(command), args, cwd: cwd ?? home }];

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // not there, or not for this user
  }
}
