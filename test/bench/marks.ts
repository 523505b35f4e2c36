/** `node test/bench/marks.ts`: what CPU time it takes to make a megabyte of text of others ready for a model, by what it is made of. */
import { neutral } from '../../plugins/prompt/contract.ts';
import { spread } from './process.ts';

const size = 1_000_000;
const texts: Readonly<Record<string, string>> = {
  English: 'Some ordinary prose about clients, begin and end, of their instructions and of what is in a content; no more.\n',
  code: 'const x: Map<string, List<List<X>>> = a >>> 2; // {"k": 1}\n',
  HTML: '<p class="x">Some <b>text</b> with Ünïcode, &lt;&lt;&lt; and >>> and more.</p>\n',
  Russian: 'Привет, мир: обычный русский текст о погоде и о том о сём. ',
  Japanese: '日本語の文章（カッコ）です「引用」。',
  Arabic: 'هذا نص عربي عادي جدا لا أكثر. ',
  'prose with emoji': 'ok 👨‍👩‍👧 🎉 text ',
};

const rows = Object.entries(texts).map(([name, line]) => {
  const text = line.repeat(Math.ceil(size / line.length)).slice(0, size);
  const ms = Array.from({ length: 12 }, () => {
    const began = process.cpuUsage();
    if (neutral(text).length < size - 1) throw new Error(`${name} was changed`);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  });
  return { name, ms: spread(ms.slice(2)).median };
});
const row = ({ name, ms }: (typeof rows)[number]) => `| ${name} | ${ms.toFixed(1)} ms | ≤ 10 ms | ${ms <= 10 ? 'yes' : '**no**'} |`;
console.log(`| A million characters of others, before a model (CPU, median) | | Bar | Met |
|---|--:|--:|---|
${rows.map(row).join('\n')}
`);
