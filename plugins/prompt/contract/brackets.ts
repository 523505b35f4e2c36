/** Signs that look like one, two or three angle brackets. */
const opening = new Map(widths('<＜﹤‹⟨〈〈ᐸ˂❮❬❰⧼𝈶', '«≪《⟪⪡', '⋘'));
const closing = new Map(widths('>＞﹥›⟩〉〉ᐳ˃❯❭❱⧽', '»≫》⟫⪢', '⋙'));
function widths(...signs: readonly string[]): readonly [string, number][] {
  return signs.flatMap((all, i) => Array.from(all, (sign): [string, number] => [sign, i + 1]));
}
/** Some next to each other, with what nobody sees between them. */
const runs = new RegExp(`(?:[${[...opening.keys(), ...closing.keys()].join('')}][\\u200b-\\u200d\\u2060\\ufeff\\p{M}]*)+`, 'gu');

const widthOf = (run: string) => Array.from(run).reduce((sum, sign) => sum + (opening.get(sign) ?? closing.get(sign) ?? 0), 0);
/** Whether a run of them is as wide as those of a mark. */
export const isWide = (signs: string) => (signs.match(runs) ?? []).some((run) => widthOf(run) > 2);

/** How wide the last run is, as far as it opens at its end. */
export function openingOf(signs: string): number {
  const last = Array.from(signs.match(runs)?.at(-1) ?? '');
  return widthOf(last.slice(last.findLastIndex((sign) => closing.has(sign)) + 1).join(''));
}

/** `<<<` becomes `< < <`. */
export const apart = (signs: string) => signs.replace(runs, (run) => (widthOf(run) > 2 ? Array.from(run, single).join('').trimEnd() : run));
function single(sign: string): string {
  const isWhole = (opening.get(sign) ?? closing.get(sign) ?? 0) > 2;
  if (isWhole) return opening.has(sign) ? '< < < ' : '> > > ';
  return opening.has(sign) || closing.has(sign) ? `${sign} ` : '';
}
