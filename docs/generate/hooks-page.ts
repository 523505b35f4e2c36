import { code, fenced, listed, page, table } from './markdown.ts';
import { sources } from './sources.ts';
import { type Token, tokens, type Use, type Uses, usesOf } from './tokens.ts';

const opening = `# Hooks and services

${fenced(
  'ts',
  `// ~/.instar/plugins/house-rules/index.ts: live as soon as it is saved
import { definePlugin, PromptSections } from 'instar';

export default definePlugin({
  name: 'house-rules',
  description: 'One more section in every prompt',
  setup(ctx) {
    ctx.tap(PromptSections, (sections) => [...sections, { id: 'house-rules', text: 'Answer in British English.' }]);
  },
});`,
)}

A *hook* is a point that plugins tap; a *service* is a value that one plugin provides. Both are named by a token, imported from
\`instar\` or \`instar/contracts/<plugin>\`.

| Kind | A tap returns | A throw |
| --- | --- | --- |
| notify | nothing: it is an event | is reported, the other taps run |
| waterfall | the next value; nothing is an error | fails the call |
| bail | an answer, or nothing to let the next one answer | fails the call |

Taps run by stage, lower first (\`ctx.tap(Hook, fn, 100)\`; 0 unless given), and within a stage in the order of plugins. A service
is asked for late, \`run.get(Token)\` or \`run.find(Token)\` where it may be absent, or early, \`needs: { store: Store }\`: then your
plugin is rebuilt whenever its provider is ([hot reload](hot-reload.md)).`;

/** When the kernel asks: its declarations have no room to say it. */
const moments: Readonly<Record<string, string>> = {
  'config.load':
    "Asked of each candidate, with the values of the config's text. Only plugins of phase `config` are there by then; `plugins.*` stays as it is.",
  'prompt.sections': 'The sections of the system prompt for one Subject. Kept per (Subject, versions): a pure function of them.',
  'runtime.select': 'Who executes a turn of this Subject.',
  'generation.swapped': 'After the swap: the candidate is live.',
  'generation.rejected': 'After a candidate failed: the generation that is named goes on.',
};

/** `docs/hooks.md`. */
export function hooksPage(root: string): string {
  const all = sources(root);
  const uses = usesOf(all);
  const known = tokens(all).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const hooks = known.filter(({ kind }) => kind !== 'service');
  const services = known.filter(({ kind }) => kind === 'service');
  const hookRows = hooks.map((one) => [link(one), one.kind, one.owner, tapsOf(one, uses)]);
  const serviceRows = services.map((one) => [link(one), one.owner, providersOf(one, uses)]);
  return page(
    opening,
    '## All hooks',
    table(['Hook', 'Kind', 'Of', 'Tapped by (stage)'], hookRows),
    '## All services',
    table(['Service', 'Of', 'Provided by'], serviceRows),
    '## Hooks, one by one',
    ...hooks.map((one) => section(one, hookFacts(one, uses))),
    '## Services, one by one',
    ...services.map((one) => section(one, serviceFacts(one, uses))),
  );
}

const anchor = ({ id, kind }: Token) => `${kind === 'service' ? 'service' : 'hook'}-${id.replaceAll('.', '-')}`;
const link = (token: Token) => `[${code(token.id)}](#${anchor(token)})`;
const of = (token: Token, uses: readonly Use[]) => uses.filter((use) => use.token === token.name);
const plugins = (token: Token, uses: readonly Use[]) => listed(of(token, uses).map(({ plugin }) => plugin));

function tapsOf(token: Token, { taps }: Uses): string {
  const named = of(token, taps).map(({ plugin, stage = '0' }) => `${code(plugin)}${stage === '0' ? '' : ` (${stage})`}`);
  return [...new Set(named)].join(', ') || 'none';
}

const providersOf = (token: Token, { provides, gives }: Uses) =>
  plugins(token, provides) || (token.id === 'host' ? 'the process around the kernel' : givenBy(token, gives));
const givenBy = (token: Token, gives: readonly Use[]) =>
  of(token, gives).length ? `${plugins(token, gives)}, to single runs` : 'no bundled plugin';

function section(token: Token, facts: readonly string[]): string {
  const from = token.owner === 'kernel' ? 'instar' : `instar/contracts/${token.owner}`;
  const declared = `${token.name} = ${token.kind}<${token.types.join(', ')}>('${token.id}')`;
  const source = [`import { ${token.name} } from '${from}'; // ${declared}`, ...token.declarations].join('\n\n');
  const doc = moments[token.id] ?? token.doc;
  return [`<a id="${anchor(token)}"></a>`, `### ${code(token.id)}`, doc, fenced('ts', source), facts.join('  \n')]
    .filter(Boolean)
    .join('\n\n');
}

function hookFacts(token: Token, uses: Uses): readonly string[] {
  const [value = '', result = ''] = token.types;
  const returned = { notify: 'nothing', waterfall: code(value), bail: `${code(result)} or nothing`, service: '' }[token.kind];
  const asked = plugins(token, uses.asks);
  return [
    `**Kind:** ${token.kind}. **In:** ${code(value)}. **A tap returns:** ${returned}.`,
    `**Tapped by:** ${tapsOf(token, uses)}.${asked && ` **Called by:** ${asked}.`}`,
  ];
}

function serviceFacts(token: Token, uses: Uses): readonly string[] {
  const needed = plugins(token, uses.needs);
  const asked = plugins(token, uses.asks);
  return [
    `**Provided by:** ${providersOf(token, uses)}.`,
    ...(needed ? [`**Needed by** (rebuilt with its provider): ${needed}.`] : []),
    ...(asked ? [`**Asked late by:** ${asked}.`] : []),
  ];
}
