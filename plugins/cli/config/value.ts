import JSON5 from 'json5';
import { KernelError, messageOf } from '../../../kernel/index.ts';

export interface ValueForm {
  readonly string?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** What a person wrote on the command line → a value. `types` are what the config may have there; empty: nobody knows. */
export function readValue(text: string, types: readonly string[], form: ValueForm = {}): unknown {
  if (form.string) return text;
  if (form.json) return parsed(text, JSON.parse);
  const takesStrings = types.length === 0 || types.includes('string');
  try {
    const value = JSON5.parse<unknown>(text);
    return isText(value, types) ? text : value;
  } catch (cause) {
    if (takesStrings && !/^\s*[[{"']/.test(text)) return text;
    throw unreadable(cause, takesStrings ? '' : `, and the config takes ${types.join(' or ')} there`);
  }
}

/** A token of digits is no number, where only a string may stand. */
function isText(value: unknown, types: readonly string[]): boolean {
  const own: Readonly<Record<string, readonly string[]>> = { number: ['number', 'integer'], boolean: ['boolean'] };
  return types.includes('string') && (own[typeof value]?.every((type) => !types.includes(type)) ?? false);
}

function parsed(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause: unknown, more = ''): KernelError {
  const what = messageOf(cause).replace(/^JSON5: /, '');
  return new KernelError('CONFIG_VALUE', `the value cannot be read: ${what}${more}; --string takes any text as it is`, { cause });
}
