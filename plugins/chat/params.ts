import type { Content } from '../../kernel/index.ts';
import { refusal } from '../gateway/contract.ts';
import { faultOfPicture } from '../sessions/contract.ts';
import { longestText } from './contract.ts';

/** What a client sent with a call: nothing in it is believed before it was looked at. */
export type Params = Readonly<Record<string, unknown>>;

const limits = { text: longestText, word: 512, images: 16 };

export const wrong = (what: string) => refusal(400, 'CHAT_PARAMS', what);

export function textOf(params: Params, name: string): string {
  const value = params[name] ?? '';
  if (typeof value !== 'string') throw wrong(`"${name}" must be a string`);
  if (value.length > limits.text) throw wrong(`"${name}" is longer than ${limits.text} characters`);
  return value;
}

/** A name, key or id: one line, not too long. */
export function wordOf(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  const fits = typeof value === 'string' && value.length <= limits.word && /^[^\p{Cc}]+$/u.test(value);
  if (!fits) throw wrong(`"${name}" must be 1 to ${limits.word} characters on one line`);
  return value;
}

export function requiredWord(params: Params, name: string): string {
  const value = wordOf(params, name);
  if (value === undefined) throw wrong(`"${name}" is missing`);
  return value;
}

export function countOf(params: Params, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (!Number.isInteger(value) || Number(value) < 1) throw wrong(`"${name}" must be a whole number from 1`);
  return Number(value);
}

export function imagesOf(params: Params): readonly Content[] {
  const value = params.images ?? [];
  if (!Array.isArray(value) || value.length > limits.images) throw wrong(`"images" must be a list of at most ${limits.images}`);
  return value.map((image: unknown, i) => {
    const { data, mimeType } = (image ?? {}) as Params;
    if (typeof data !== 'string' || typeof mimeType !== 'string') throw wrong('an image is {"data": base64, "mimeType": "image/…"}');
    const fault = faultOfPicture(data, mimeType);
    if (fault) throw wrong(`"images"[${i}] is ${fault}; send png, jpeg, gif or webp`);
    return { type: 'image', data, mimeType };
  });
}
