import { readFileSync } from 'node:fs';
import type { Host, Values } from '../../../kernel/index.ts';
import { type Finding, setting } from '../contract.ts';
import { readable } from './files.ts';
import { textsIn } from './paths.ts';

/** Names under which people keep secrets; not `maxTokens`, `mainKey`. */
const secretName = /(token|secret|passw(or)?d|passphrase|api[-_]?key|private[-_]?key|access[-_]?key|authorization|_key)$/i;

/** Secrets that stand in the text of the config itself: in every copy of it, every backup, every screenshot. */
export function writtenSecrets(config: Values, host: Host): readonly Finding[] {
  const files = host.sources().config.flatMap((file) => textOf(file));
  // A `${VARIABLE}` is resolved by now: what it stands for is in no file, what is written is.
  const holder = (value: string) => {
    const inside = JSON.stringify(value).slice(1, -1);
    return files.find(({ text }) => [`"${inside}"`, `'${inside}'`].some((quotes) => text.includes(quotes)));
  };
  const written = textsIn(config).flatMap(({ path, name, names, value }) => {
    const text = String(value);
    const isSecret = names[0] !== 'secrets' && text.length >= 6 && secretName.test(name);
    const file = isSecret ? holder(text)?.file : undefined;
    return file === undefined ? [] : [{ path, name, names, file }];
  });
  const open = [...new Set(written.map(({ file }) => file))].flatMap((file) => readable(file, 'holds secrets'));
  return [...open, ...written.map(({ path, names }) => finding(path, names))];
}

function finding(path: string, names: readonly string[]): Finding {
  const variable = names
    .slice(-2)
    .join('_')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .toUpperCase();
  const mend = `put ${variable}=… into .env of the state folder, then ${setting(path, `\${${variable}}`)}`;
  return { severity: 'warning', code: 'secret-in-config', path, message: `${path} is written in the config in clear`, mend };
}

function textOf(file: string): readonly { readonly file: string; readonly text: string }[] {
  try {
    return [{ file, text: readFileSync(file, 'utf8') }];
  } catch {
    return []; // gone since it was read
  }
}
