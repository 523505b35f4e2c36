import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Host, Values } from '../../../kernel/index.ts';
import { type Finding, quoted } from '../contract.ts';
import { foreignOwner, isFolder, modeOf, readers, writable } from './modes.ts';
import { valuesAt } from './paths.ts';

/** Files that hold secrets or decide what runs, by who else of this machine may read or change them. */
export function fileFindings(config: Values, host: Host): readonly Finding[] {
  const inHome = ['.env', 'token', 'state.db'].map((name) => join(host.home, name));
  const referred = valuesAt(config, 'secrets.providers.*.path').map(({ value }) => String(value).replace(/^~(?=\/|$)/, homedir()));
  const programs = valuesAt(config, 'secrets.providers.*.command').map(({ value }) => String(value));
  const configs = host.sources().config;
  const envFile = host.configFile ? join(dirname(host.configFile), '.env') : undefined;
  const secret = [...new Set([...inHome, ...(envFile ? [envFile] : []), ...referred])].filter((file) => existsSync(file));
  const deciding = [...new Set([host.home, ...configs, ...secret, ...programs])].filter((file) => existsSync(file));
  return [
    ...secret.flatMap((file) => readable(file, 'holds secrets')),
    ...openHome(host.home),
    ...deciding.flatMap((file) => changeable(file)),
  ];
}

/** A file that others may read. Where a folder on the way is closed to them it is safe until somebody opens that. */
export function readable(file: string, what: string): readonly Finding[] {
  const found = readers(file);
  if (!found) return [];
  const who = found.who === 'everybody' ? 'everybody of this machine' : 'the group of the file';
  const now = found.isReachable ? `${who} can read it` : `only the folders above keep ${who} from reading it`;
  return [
    {
      severity: found.isReachable ? 'severe' : 'note',
      code: 'secret-readable',
      message: `${file} ${what}, and ${now}`,
      ...closing(file, 0o077),
    },
  ];
}

function openHome(home: string): readonly Finding[] {
  const found = readers(home);
  if (!found?.isReachable) return [];
  const message = `${home}, with the transcripts and the log in it, can be listed by others of this machine`;
  return [{ severity: 'warning', code: 'home-open', message, ...closing(home, 0o077) }];
}

function changeable(file: string): readonly Finding[] {
  const owner = foreignOwner(file);
  if (owner !== undefined) {
    const message = `${file} belongs to user ${owner}, who may change it`;
    return [{ severity: 'severe', code: 'file-foreign', message, file, mend: `sudo chown "$(id -un)" ${quoted(file)}` }];
  }
  const open = writable(file);
  if (!open) return [];
  const who = open.who === 'everybody' ? 'everybody of this machine' : 'the group of it';
  const message = `${open.at} can be written by ${who}${open.at === file ? '' : `, and with it ${file} replaced`}`;
  return [{ severity: open.who === 'everybody' ? 'severe' : 'warning', code: 'file-writable', message, ...closing(open.at, 0o022) }];
}

/** The command, and the same for `--fix`. */
export function closing(file: string, excess: number): Pick<Finding, 'file' | 'mend' | 'excess'> {
  const mode = (modeOf(file) & ~excess).toString(8).padStart(3, '0');
  const usual = excess === 0o077 && (mode.startsWith('7') || mode.startsWith('6')) ? (isFolder(file) ? '700' : '600') : undefined;
  return { file, mend: `chmod ${usual ?? 'go-w'} ${quoted(file)}`, excess };
}
