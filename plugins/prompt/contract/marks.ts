import { lettersOf } from './look-alikes.ts';

/** The words of the marks between which text of others stands before a model. */
export const marks = {
  content: 'UNTRUSTED_CONTENT',
  child: 'UNTRUSTED_CHILD_RESULT',
  client: 'CLIENT_INSTRUCTIONS',
} as const;

const spelled = new RegExp(
  `(?:END|BEGIN)?(?:${Object.values(marks)
    .map((word) => lettersOf(word).letters)
    .join('|')})`,
  'g',
);

/** Signs that look like one, two or three angle brackets. */
const angles = ['<＜﹤‹⟨〈〈ᐸ˂❮❬❰⧼𝈶>＞﹥›⟩〉〉ᐳ˃❯❭❱⧽', '«≪《⟪⪡»≫》⟫⪢', '⋘⋙'].map((all) => Array.from(all));
const brackets = new RegExp(`(?:[${angles.flat().join('')}][\\u200c\\u200d\\p{M}]*){2,}|[${angles[2]?.join('')}]`, 'gu');
const widthOf = (sign: string) => angles.findIndex((all) => all.includes(sign)) + 1;

/** Text of others in which nothing is a mark of ours any more, or could be taken for one. All else of it stays as it is. */
export function withoutMarks(text: string): string {
  const broken = text.replace(brackets, apart);
  const { letters, starts, ends } = lettersOf(broken);
  let [made, from] = ['', 0];
  for (const { index, 0: found } of letters.matchAll(spelled)) {
    const [start = 0, end = 0] = [starts[index], ends[index + found.length - 1]];
    if (start < from || isProse(broken, start, end)) continue;
    made += `${broken.slice(from, start)}[mark removed]`;
    from = end;
  }
  return made + broken.slice(from);
}

/** Two words of plain English in a sentence, such as "treat untrusted content with care". */
const isProse = (text: string, start: number, end: number) =>
  /^(?:untrusted content|client instructions)$/i.test(text.slice(start, end)) &&
  !/[<>]\s*$/.test(text.slice(Math.max(0, start - 4), start));

/** `<<<` becomes `< < <`; two together, as in `a << b`, are no mark. */
function apart(run: string): string {
  const signs = Array.from(run).filter((sign) => widthOf(sign) > 0);
  if (signs.reduce((sum, sign) => sum + widthOf(sign), 0) < 3) return run;
  return signs.map((sign) => (sign === '⋘' ? '< < <' : sign === '⋙' ? '> > >' : sign)).join(' ');
}
