import { Host, messageOf, type Run, type Values } from '../../kernel/index.ts';
import { type Audit, type Finding, type Placed, SecurityFindings, type Severity } from './contract.ts';
import { agentFindings } from './rules/agents.ts';
import { configFindings } from './rules/config.ts';
import { fileFindings } from './rules/files.ts';
import { guardFindings } from './rules/guards.ts';
import { idleFindings } from './rules/idle.ts';
import { pluginFindings } from './rules/plugins.ts';
import { writtenSecrets } from './rules/written-secrets.ts';

export type Rule = (config: Values, run: Run) => readonly Finding[] | Promise<readonly Finding[]>;

const rules: Readonly<Record<string, Rule>> = {
  config: (config) => configFindings(config),
  agents: agentFindings,
  guards: (_config, run) => guardFindings(run.get(Host)),
  'keys without a plugin': (config, run) => idleFindings(config, run.get(Host)),
  files: (config, run) => fileFindings(config, run.get(Host)),
  plugins: (_config, run) => pluginFindings(run.get(Host)),
  secrets: (config, run) => writtenSecrets(config, run.get(Host)),
  'other plugins': (_config, run) => run.call(SecurityFindings, []),
};

const rank: Readonly<Record<Severity, number>> = { severe: 0, warning: 1, note: 2 };

/** Nothing is kept: files change without us. A rule that fails is a finding, for it can say nothing of what it looks after. */
export async function audit(config: Values, run: Run): Promise<Audit> {
  const found = await Promise.all(Object.entries(rules).map(([name, rule]) => Promise.try(rule, config, run).catch(failed(name))));
  const place = ({ path, file }: Finding) => (path === undefined ? (file ?? '') : run.get(Host).place(path));
  const findings: readonly Placed[] = found
    .flat()
    .map((one) => ({ ...one, place: place(one) }))
    .toSorted((a, b) => rank[a.severity] - rank[b.severity]);
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  return { findings, counts: { severe: count('severe'), warning: count('warning'), note: count('note') } };
}

const failed =
  (name: string) =>
  (cause: unknown): readonly Finding[] => [
    {
      severity: 'warning',
      code: 'rule-failed',
      message: `the rules for ${name} could not be asked: ${messageOf(cause)}`,
      mend: 'instar logs',
    },
  ];
