import { isUtf8 } from 'node:buffer';
import { messageOf } from '../../../kernel/index.ts';
import type { Line } from './lines.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** A line that can be kept, with its text as it stands; or what is wrong with it. An empty line is neither. */
export type Parsed =
  | { readonly record: JsonRecord; readonly text: string; readonly flaw?: string }
  | { readonly broken: string }
  | undefined;

export function parsedLine({ number, bytes, tooLong, isOpen }: Line): Parsed {
  if (tooLong) return { broken: tooLong };
  const bom = number === 1 && bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
  const text = (bom ? bytes.subarray(3) : bytes).toString('utf8').trim();
  if (!text) return undefined;
  try {
    const record = JSON.parse(text) as JsonRecord | null;
    if (typeof record !== 'object' || Array.isArray(record) || typeof record?.type !== 'string') {
      return { broken: 'it is no record: an object with a "type" is due' };
    }
    const flaw = isUtf8(bytes) ? (bom ? 'a byte order mark was left out' : '') : 'it was not all UTF-8; what was not is a mark now';
    return { record, text, ...(flaw && { flaw }) };
  } catch (cause) {
    return { broken: isOpen ? 'the last line is cut off, as by a crash' : `it is no JSON (${messageOf(cause)})` };
  }
}
