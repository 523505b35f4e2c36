import { parseArgs } from 'node:util';
import type { Inspection, ReportLine } from '../../kernel/index.ts';
import { exitCodes, type RunCommand } from './contract.ts';
import { type Fault, isPresent } from '../faults/contract.ts';
import type { VitalsReading } from '../vitals/contract.ts';
import { faultText } from './fault-lines.ts';
import { findGateway } from './reach.ts';
import { vitalsLines } from './vitals-lines.ts';
import { bold, columns, dim, oneLine } from './contract/terminal.ts';

/** What the gateway's methods `status`, `plugins.faults` and `vitals.read` answer. */
export interface Status {
  readonly inspection: Inspection;
  readonly report: readonly ReportLine[];
  readonly active: readonly { readonly sessionKey: string; readonly state?: string; readonly since: number }[];
  readonly faults: readonly Fault[];
  readonly vitals?: VitalsReading | undefined;
}

/** `instar status`: asks the running gateway; exits with 1 where none runs. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' }, all: { type: 'boolean' } } });
  const found = await findGateway(host);
  if (!found) {
    if (values.json) console.log(JSON.stringify({ running: false, home: host.home }));
    else console.error(`instar: no gateway runs on ${host.home}; "instar start" runs one`);
    return exitCodes.failed;
  }
  const [answer, { faults }, vitals] = await Promise.all([
    found.client.call<Omit<Status, 'faults' | 'vitals'>>('status'),
    found.client.call<Pick<Status, 'faults'>>('plugins.faults').catch(() => ({ faults: [] })), // that plugin may be off
    found.client.call<VitalsReading>('vitals.read').catch(() => undefined), // so may this
  ]);
  const status = { ...answer, faults, vitals };
  found.client.close();
  if (values.json) console.log(JSON.stringify({ running: true, ...found.holder, ...status }));
  else console.log(show(status, found.holder, values.all ?? false));
  return 0;
};

function show(
  { inspection, report, active, faults, vitals }: Status,
  { pid, started }: { readonly pid: number; readonly started: string },
  isFull: boolean,
) {
  const { generation, retiring, instances, leftOut } = inspection;
  const older = retiring.map((one) => `${one.generation} (${one.runs} runs)`).join(', ');
  const facts = [
    ...report,
    { label: 'process', value: `${pid}, since ${started}` },
    { label: 'generation', value: `${generation}, ${instances.length} plugins${older && `; ending: ${older}`}` },
    { label: 'turns', value: active.length ? active.map(turnLine).join('; ') : 'none' },
    ...(vitals ? vitalsLines(vitals) : []),
  ];
  const described = instances.map(({ plugin, description }) => ({ label: plugin, value: oneLine(description, 200) }));
  const names = [
    {
      label: 'plugins',
      value: `${instances
        .map(({ plugin }) => plugin)
        .toSorted()
        .join(', ')} (--all: what each does)`,
    },
  ];
  const missing = leftOut.map(({ plugin, code, why }) => ({ label: plugin, value: `${code}: ${oneLine(why, 200)}` }));
  const since = new Map(instances.map((one) => [one.plugin, one.since]));
  const present = faults.filter((fault) => isPresent(fault, since.get(fault.plugin)));
  const wrong = present.map((fault) => ({ label: fault.plugin, value: faultText(fault) }));
  const part = (title: string, rows: typeof wrong) => (rows.length ? [`${bold(title)}\n${columns(rows)}`] : []);
  const trouble = [...part('left out', missing), ...part('faults', wrong)];
  if (isFull) return [...trouble, columns(facts), dim('plugins'), columns(described)].join('\n');
  return [...trouble, columns([...facts, ...names])].join('\n');
}

const turnLine = ({ sessionKey, state = 'running', since }: Status['active'][number]) =>
  `${sessionKey} (${state}, ${Math.round((Date.now() - since) / 1000)} s)`;
