import { parseArgs } from 'node:util';
import { joinKey, KernelError } from '../../kernel/index.ts';
import { bold, columns, type CommandHost, dim, exitCodes, misused, oneLine, type RunCommand } from '../cli/contract.ts';
import { type Checked, isSecretRef, type SecretRef } from './contract.ts';
import type { SecretsConfig } from './provider.ts';
import { readSecret, reasonOf } from './reading.ts';

interface Placed {
  readonly path: string;
  readonly ref: SecretRef;
}

/** `instar secrets`: every reference of the config, with what keeps it from being resolved. Exits with 1 where something does. */
export const run: RunCommand = async (argv, host) => {
  const { values: given, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  if (positionals.some((word, i) => i > 0 || word !== 'list')) throw misused(`secrets has no "${positionals[0]}"`);
  const { values, problems, place } = await host.readConfig(host.configFile, host.env);
  const refs = referencesIn(values, '');
  const { checked } = refs.length ? await host.ask<{ readonly checked: readonly Checked[] }>('secrets.check', { refs }) : { checked: [] };
  const rows = refs.map(({ path, ref }) => ({ path, place: place(path), ref, fault: faultAt(path, checked) }));
  const unset = problems.map(({ path, message }) => ({ path, place: place(path), fault: message }));
  const faulty = [...rows, ...unset].filter(({ fault }) => fault !== undefined);
  if (given.json) console.log(JSON.stringify({ references: rows, unset }));
  else
    console.log(
      table([...rows.map(({ ref, ...row }) => ({ ...row, text: refText(ref) })), ...unset.map((row) => ({ ...row, text: '${…}' }))]),
    );
  return faulty.length ? exitCodes.failed : 0;
};

/** For commands that must show a secret to the gateway they connect to. Of no other gateway: it asks the source itself. */
export async function secretFor(
  ref: SecretRef,
  path: string,
  { configFile, env, readConfig }: Pick<CommandHost, 'configFile' | 'env' | 'readConfig'>,
): Promise<string> {
  try {
    const { values } = await readConfig(configFile, env);
    const { fromProgram } = await import('./program.ts');
    return await readSecret(ref, (values['secrets'] ?? {}) as SecretsConfig, env, (question) =>
      fromProgram(question, new AbortController().signal),
    );
  } catch (cause) {
    throw new KernelError('SECRET_UNAVAILABLE', `${path}: ${reasonOf(cause)}`);
  }
}

function referencesIn(value: unknown, path: string): readonly Placed[] {
  if (path === 'secrets' || typeof value !== 'object' || value === null) return [];
  if (isSecretRef(value)) return [{ path, ref: value }];
  return Object.entries(value).flatMap(([key, inner]) => referencesIn(inner, joinKey(path, key)));
}

/** Without the path, which stands before it. */
const faultAt = (path: string, checked: readonly Checked[]) =>
  checked
    .find((one) => one.path === path)
    ?.fault?.replace(/^(.*?(?: \(.*?\))?): /, (whole, head: string) => (head.startsWith(path) ? '' : whole));

const refText = ({ source, provider, id }: SecretRef) => [source, provider, id].filter(Boolean).join(':');

function table(
  rows: readonly { readonly path: string; readonly place: string; readonly text: string; readonly fault?: string | undefined }[],
): string {
  if (rows.length === 0) return 'the config refers to no secret';
  return columns(
    rows.map(({ path, place, text, fault }) => ({
      label: path,
      value: `${text}  ${fault ? bold(`missing: ${oneLine(fault, 300)}`) : 'there'}  ${dim(place)}`,
    })),
  );
}
