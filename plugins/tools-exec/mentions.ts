import { allowance } from './allowance.ts';
import type { Part } from './contract.ts';
import { resolveExecutable } from './executable.ts';
import { neverGranted, shellBuiltins } from './kinds.ts';
import type { Mention } from './walk.ts';
import { type Scene, scriptsOf } from './plan.ts';
import type { Rules } from './rules.ts';

/** What a shell would run, as far as it can be told: for the person who is asked, never for an allowance. */
export const mentionParts = (mentions: readonly Mention[], scene: Scene, rules: Rules): Promise<readonly Part[]> =>
  Promise.all(mentions.map((mention) => partOf(mention, scene, rules)));

async function partOf({ text, words }: Mention, scene: Scene, rules: Rules): Promise<Part> {
  const [name, ...args] = words;
  if (name === undefined) return { text, isAllowed: false, why: 'which program it is can only be told by running it' };
  if (shellBuiltins.has(name)) return { text, isAllowed: false, why: `"${name}" is a command of the shell itself` };
  const executable = await resolveExecutable(name, scene.cwd, scene.path);
  if (!executable) return { text, isAllowed: false, why: `there is no program "${name}"` };
  const known = args.filter((arg) => arg !== undefined);
  const found =
    known.length === args.length
      ? await allowance(executable, name, known, { redirections: [], isPiped: false }, scene, rules)
      : { isAllowed: false, why: 'its arguments can only be told by running it' };
  const never = neverGranted(executable, known);
  return { text, executable: executable.real, ...found, ...(never && { isAllowed: false, why: never }) };
}

/** Every program that is named, and the files that tell shells, interpreters and the like what to do. */
export async function filesOf(mentions: readonly Mention[], { cwd, path }: Scene): Promise<readonly string[]> {
  const files = await Promise.all(
    mentions.map(async ({ words: [name, ...args], reads }) => {
      const executable = name === undefined ? undefined : await resolveExecutable(name, cwd, path);
      return [...(executable ? [executable.found] : []), ...scriptsOf(executable, args, reads, cwd)];
    }),
  );
  return files.flat();
}
