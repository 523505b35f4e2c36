import { isDeepStrictEqual } from 'node:util';
import JSON5 from 'json5';
import { pathText } from './path.ts';

interface Texts {
  readonly before: string;
  readonly after: string;
  /** What became of `after` since. */
  readonly now: string;
}

/**
 * `now` without what led from `before` to `after`, with everything that was changed since; undefined where both touch the same.
 * Where changes stand too close together for their lines to tell them apart, their values must.
 */
export async function revert({ before, after, now }: Texts): Promise<string | undefined> {
  const { applyPatch, reversePatch, structuredPatch } = await import('diff');
  for (const context of [2, 0]) {
    const patch = reversePatch(structuredPatch('', '', before, after, undefined, undefined, { context }));
    const text = applyPatch(now, patch, { autoConvertLineEndings: false });
    if (text === false || text === now) continue;
    if (context > 0 || isExactly(text, { before, after, now })) return text;
  }
  return undefined;
}

/** Whether the values are those of `now`, but where `after` changed them: there, those of `before`. */
function isExactly(text: string, texts: Texts): boolean {
  try {
    const [before, after, now, result] = [texts.before, texts.after, texts.now, text].map((one) => leaves(JSON5.parse(one)));
    if (!before || !after || !now || !result) return false;
    const paths = new Set([before, after, now, result].flatMap((one) => [...one.keys()]));
    return [...paths].every((path) => {
      const isOurs = !isDeepStrictEqual(before.get(path), after.get(path));
      if (isOurs && !isDeepStrictEqual(now.get(path), after.get(path))) return false;
      return isDeepStrictEqual(result.get(path), (isOurs ? before : now).get(path));
    });
  } catch {
    return false; // one of them is no JSON5: nobody can tell
  }
}

function leaves(value: unknown, keys: readonly string[] = []): Map<string, unknown> {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (inner.length === 0) return new Map([[pathText(keys), value]]);
  return new Map(inner.flatMap(([key, at]) => [...leaves(at, [...keys, key])]));
}
