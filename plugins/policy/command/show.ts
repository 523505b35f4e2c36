import { homedir } from 'node:os';
import { relative } from 'node:path';
import { bold, columns, dim, hanging, oneLine, plain } from '../../cli/contract.ts';
import { saidIn } from '../../prompt/contract.ts';
import type { Difference, DifferenceLine, Explanation, Finding, LayerId, ToolDetail, ToolLine, ToolList } from '../contract.ts';

/** As people call the layers. */
const layerNames: Readonly<Record<LayerId, string>> = {
  channel: 'channel',
  provider: 'provider',
  owner: 'owner only',
  config: 'config',
  confinement: 'sandbox, sub-agent',
  plugin: 'another plugin',
};

/** Who is judged, what each layer left, then every tool. */
export function showExplanation({ subject, tools, layers, findings }: Explanation): string {
  const passed = tools.filter(({ state }) => state === 'passed');
  const absent = tools.filter(({ state }) => state === 'absent').length;
  const here = tools.length - absent;
  const steps = layers.map(({ layer, left, removed }) => ({
    label: layerNames[layer],
    value: `${left} left, without ${plain(removed.join(', '))}`,
  }));
  const facts = [
    { label: 'for', value: bold(whom(subject)) },
    { label: 'tools', value: `${here} here, ${bold(`${passed.length} offered`)}${absent ? `, ${absent} known but not here` : ''}` },
    ...steps,
  ];
  return [columns(facts), ...findingLines(findings), table(tools)].join('\n\n');
}

/** `tools explain` without a name: all that is not offered. */
export function showMissing({ subject, tools, findings }: Explanation): string {
  const gone = tools.filter(({ state }) => state !== 'passed');
  const head = columns([{ label: 'for', value: bold(whom(subject)) }]);
  return [head, ...findingLines(findings), gone.length ? table(gone) : '  Every tool that is known is offered.'].join('\n\n');
}

function whom({ agent = '', channel, sender, senderId, group, provider, model, depth = 0, sandboxed }: Explanation['subject']): string {
  const parts = [
    agent,
    channel,
    `sender ${sender}${senderId === undefined ? '' : ` ${senderId}`}`,
    group !== undefined && `group ${group}`,
    provider !== undefined && (model === undefined ? provider : `${provider}/${model}`),
    depth > 0 && `sub-agent at depth ${depth}`,
    sandboxed && 'sandboxed',
  ];
  return plain(parts.filter(Boolean).join(' · '));
}

const findingLines = (findings: readonly Finding[]) =>
  findings.length
    ? [findings.map(({ message, place }) => `  ${bold('!')} ${hanging(`${plain(message)}  ${shortPlace(place)}`, 4)}`).join('\n')]
    : [];

function table(all: readonly ToolLine[]): string {
  const tools = all.filter(({ state }) => state !== 'absent');
  const name = widest(tools.map(({ tool }) => tool));
  const layer = widest(tools.map((line) => whereOf(line)));
  const lines = tools.map((line) => {
    const head = `  ${line.state === 'passed' ? line.tool.padEnd(name) : dim(line.tool.padEnd(name))}  ${sign(line)}  `;
    return `${head}${dim(whereOf(line).padEnd(layer))}  ${hanging(reasonOf(line), name + layer + 15)}`.trimEnd();
  });
  const absent = absentLines(all.filter(({ state }) => state === 'absent'));
  return [lines.join('\n'), ...(absent ? [`  ${bold('Not here')}\n${absent}`] : [])].filter(Boolean).join('\n\n');
}

/** Tools that share a reason share a line. */
function absentLines(absent: readonly { readonly tool: string; readonly why?: string }[]): string {
  const byReason = [...Map.groupBy(absent, ({ why = '' }) => why)].toSorted(([, a], [, b]) => a.length - b.length);
  return byReason
    .map(([why, tools]) => `    ${hanging(`${plain(tools.map(({ tool }) => tool).join(', '))}: ${dim(plain(why))}`, 6)}`)
    .join('\n');
}

const sign = ({ state }: ToolLine) => (state === 'passed' ? 'offered' : bold('removed'));
const whereOf = ({ state, layer }: ToolLine) => (state === 'removed' && layer ? layerNames[layer] : '');

function reasonOf({ why = '', place, rule, layer, judgedByCall }: ToolLine): string {
  if (judgedByCall) return dim('each call is judged by its command');
  const where = place ?? (layer === 'plugin' ? rule : undefined);
  return `${plain(why)}${where === undefined ? '' : `  ${dim(shortPlace(where))}`}`;
}

export function showTools({ here, absent }: ToolList): string {
  const name = widest(here.map(({ tool }) => tool));
  const line = (tool: string, text: string) => `    ${tool.padEnd(name)}  ${hanging(dim(oneLine(text, 110)), name + 6)}`;
  const sections = Map.groupBy(here, ({ section }) => section);
  const parts = [...sections].map(
    ([title, tools]) => `  ${bold(plain(title))}\n${tools.map((one) => line(one.tool, saidIn(one.description))).join('\n')}`,
  );
  const missing = absent.length ? [`  ${bold('Not here')}\n${absentLines(absent)}`] : [];
  return [...parts, ...missing].join('\n\n');
}

export function showDetail({ tool, section, description, absent, verdicts }: ToolDetail): string {
  const facts = [
    { label: 'tool', value: `${bold(plain(tool))}  ${dim(plain(section))}` },
    ...(description === undefined ? [] : [{ label: '', value: oneLine(saidIn(description), 300) }]),
    ...(absent === undefined ? [] : [{ label: 'not here', value: plain(absent) }]),
  ];
  const lines = verdicts.map(({ agent, when, line }) => ({
    label: plain(agent),
    value: `${line.state === 'passed' ? 'offered to' : bold('removed for')} ${when.join(', ')}${dim(because(line))}`,
  }));
  return [columns(facts), ...(lines.length ? [columns(lines)] : [])].join('\n\n');
}

function because(line: ToolLine): string {
  const reason = reasonOf(line);
  if (line.state === 'passed') return line.judgedByCall ? '; each call is judged by its command' : '';
  return `: ${whereOf(line)}: ${reason}`;
}

type Shown = Omit<Difference, 'lines'> & {
  readonly lines: readonly (DifferenceLine & { readonly place?: string })[];
  readonly beyond: readonly string[];
};

export function showDifference({ lines, agents, beyond, compared }: Shown): string {
  const byAgent = Map.groupBy(lines, ({ agent }) => agent);
  const parts = [...byAgent].map(([agent, own]) => `  ${bold(plain(agent))}\n${own.map((line) => changeLine(line, compared)).join('\n')}`);
  const notes = [
    ...(agents.same.length ? [{ label: 'unchanged', value: plain(agents.same.join(', ')) }] : []),
    ...(agents.added.length ? [{ label: 'new agents', value: plain(agents.added.join(', ')) }] : []),
    ...(agents.removed.length ? [{ label: 'gone agents', value: plain(agents.removed.join(', ')) }] : []),
    ...(beyond.length ? [{ label: 'not judged', value: `it also changes ${beyond.join(', ')}, which only a start judges` }] : []),
  ];
  return [...parts, ...(notes.length ? [columns(notes)] : [])].join('\n\n');
}

function changeLine({ tool, change, when, why, place, path }: Shown['lines'][number], compared: readonly string[]): string {
  const who = when.length === compared.length ? '' : ` for ${when.join(', ')}`;
  const before = change === 'gained' ? 'until now: ' : '';
  const where = place ?? path;
  const reason = `${before}${plain(why)}${where === undefined ? '' : `  ${shortPlace(where)}`}`;
  return `    ${change === 'gained' ? '+' : '-'} ${bold(plain(tool))}${who}  ${dim(hanging(reason, 8))}`;
}

const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));

/** From the folder where the person is, or from home, where that is shorter. */
export function shortPlace(place: string): string {
  if (!place.startsWith('/')) return plain(place);
  const ways = [place, relative(process.cwd(), place), place.startsWith(`${homedir()}/`) ? `~${place.slice(homedir().length)}` : place];
  return plain(ways.toSorted((a, b) => a.length - b.length)[0] ?? place);
}
