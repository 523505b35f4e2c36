import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { KernelError } from '../../../kernel/index.ts';
import { isOpenClaw } from '../../openclaw/contract.ts';
import type { CommandHost } from '../contract.ts';
import { readConfig } from '../text/config-text.ts';
import type { Change } from './change.ts';
import { readText } from './files.ts';
import { openTree, placeIn } from './layers.ts';
import { mainFile } from './opened.ts';
import { parsePath } from './path.ts';
import { follow } from './plan.ts';
import { type Fault, faultsOf } from './schema.ts';

type Read = (file: string) => string;

/**
 * Refuses an edit that the config would be worse for: it must parse, its values must fit, its variables must be set. Faults
 * that were there before are no reason. Returns warnings: what only a plugin of the user's, or a start, can judge.
 */
export async function checkCandidate({ file, after }: Change, host: CommandHost): Promise<readonly string[]> {
  const main = mainFile(host);
  const now: Read = (path) => withoutBom(readText(path), path);
  const then: Read = (path) => (path === file ? withoutBom(after, path) : now(path));
  if (after === undefined && file === main) return [];
  const faults = await faultsIn(main, host, then);
  const known = await faultsIn(main, host, now).catch(() => []); // it does not parse now: anything may be better
  const isOld = (fault: Fault) => known.some(({ path, message }) => path === fault.path && message === fault.message);
  const fresh = faults.filter((fault) => !isOld(fault));
  const place = placing(main, then);
  const isJudgedElsewhere = hasOtherJudge(host, main, then);
  const text = ({ path, message }: Fault) => `${place(path)} ${path}: ${message}`;
  const bad = fresh.filter(({ isStrange }) => !isStrange || !isJudgedElsewhere);
  if (bad.length) throw new KernelError('CONFIG_INVALID', `${bad.map(text).join('; ')}; nothing was written`);
  return fresh.map(text);
}

async function faultsIn(main: string, { env }: CommandHost, read: Read): Promise<readonly Fault[]> {
  const { values, problems } = readConfig(main, env, read);
  const unset = problems.map(({ path, message }) => ({ path, message, isStrange: false }));
  const faults = (await faultsOf(values)).filter(({ path }) => !unset.some((one) => one.path === path));
  const isTranslated = isOpenClaw(main, values); // then what is checked at a start are other values than these
  return [...unset, ...faults.map((fault) => (isTranslated ? { ...fault, isStrange: true } : fault))];
}

function withoutBom(text: string | undefined, file: string): string {
  if (text !== undefined) return text.replace(/^\uFEFF/, '');
  throw new KernelError('CONFIG_TEXT', `there is no file ${file}`);
}

/** `file:line:column` in the candidate of a path, or of the part of it that is written. */
function placing(main: string, read: Read): (path: string) => string {
  const tree = openTree(main, read);
  return (path) => {
    const held = path ? follow(tree, parsePath(path)).held.at(-1) : undefined;
    return held ? placeIn(held.source, held.part.start) : main;
  };
}

/** What our schema does not know, a plugin of the user's may; OpenClaw's form is translated first. A start judges both. */
function hasOtherJudge({ home, env }: CommandHost, main: string, read: Read): boolean {
  const { values } = readConfig(main, env, read);
  const { paths, packages } = (values['plugins'] ?? {}) as Readonly<Record<string, unknown>>;
  const folder = join(home, 'plugins');
  const own = [paths, packages, existsSync(folder) ? readdirSync(folder) : []];
  return isOpenClaw(main, values) || own.some((list) => Array.isArray(list) && list.length > 0);
}
