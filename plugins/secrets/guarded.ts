import type { NamedFiles } from '../tools-fs/contract.ts';
import type { SecretsConfig } from './provider.ts';
import { fileAt } from './sources.ts';

/** Files that hold secrets. */
export const filesOf = ({ providers = {} }: SecretsConfig): readonly string[] =>
  Object.values(providers).flatMap(({ path }) => (path === undefined ? [] : [fileAt(path)]));

/** What is run to ask for secrets. */
export const programsOf = ({ providers = {} }: SecretsConfig): NamedFiles['programs'] =>
  Object.values(providers).flatMap(({ command, args }) => (command === undefined ? [] : [{ command, args, cwd: '/' }]));
