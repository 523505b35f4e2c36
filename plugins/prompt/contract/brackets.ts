/** Signs that look like one, two or three angle brackets. */
const opening = new Map(widths('<＜﹤‹⟨〈〈ᐸ˂❮❬❰⧼𝈶', '«≪《⟪⪡', '⋘'));
const closing = new Map(widths('>＞﹥›⟩〉〉ᐳ˃❯❭❱⧽', '»≫》⟫⪢', '⋙'));
function widths(...signs: readonly string[]): readonly [string, number][] {
  return signs.flatMap((all, i) => Array.from(all, (sign): [string, number] => [sign, i + 1]));
}
/** Some next to each other, with what nobody sees between them. */
const runs = new RegExp(`(?:[${[...opening.keys(), ...closing.keys()].join('')}][\\u200b-\\u200d\\u2060\\ufeff\\p{M}]*)+`, 'gu');

/** Those that open. */
export const openings = new RegExp(`(?:[${[...opening.keys()].join('')}][\\u200b-\\u200d\\u2060\\ufeff\\p{M}]*)+`, 'gu');

/** Whether there may be three of them. By code unit and in few ranges, which is several times as fast as `openings`. */
export const mayOpen = (text: string): boolean => /<(?:<<|[^\0-\x7f])/.test(text) || rare.test(text);
const rare = /[\xab\u02c2\u1438\u2039\u226a\u22d8\u2329\u276c-\u2770\u27e8-\u27ea\u29fc\u2aa1\u3008-\u300a\ufe64\uff1c\ud834]/;

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
