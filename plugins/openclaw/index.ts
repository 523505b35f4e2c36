import { definePlugin, GenerationSwapped, Host, LoadConfig, StartReport } from '../../kernel/index.ts';
import { isOpenClaw } from './contract.ts';
import type { Finding } from './finding.ts';

const schema = {
  type: 'string',
  enum: ['openclaw', 'none'],
  description:
    'Whose form this file has. Default: OpenClaw’s where it is named openclaw.json or has meta.lastTouchedVersion; `none` says otherwise.',
} as const;

export default definePlugin({
  name: 'openclaw',
  description: 'Runs an openclaw.json as it is, and tells which of its keys have no effect here',
  phase: 'config',
  config: { at: 'compat', schema },
  setup(ctx) {
    // What a start prints is of the config that is live: a candidate may yet be rejected.
    let candidate: readonly Finding[] | undefined;
    let live: readonly Finding[] | undefined;
    ctx.tap(LoadConfig, async (values, run) => {
      const host = run.get(Host);
      candidate = undefined;
      if (!isOpenClaw(host.configFile, values)) return values;
      const [{ readOpenClaw, pathOf }, { configSchema }] = await Promise.all([import('./reading.ts'), import('./schema.ts')]);
      const reading = readOpenClaw(values, configSchema(), (path) => host.place(path));
      candidate = reading.findings;
      const told = new Set(live?.map(({ why, keys }) => `${pathOf(keys)}: ${why}`));
      for (const { kind, keys, why } of reading.findings) {
        const line = `${pathOf(keys)}: ${why}`;
        if (kind === 'warning' && !told.has(line)) ctx.log.warn(`${host.place(pathOf(keys))} ${line}`);
      }
      return reading.values;
    });
    ctx.tap(GenerationSwapped, () => void (live = candidate));
    ctx.tap(StartReport, (lines, run) => {
      const findings = live ?? candidate;
      return findings ? [...lines, { label: 'openclaw', value: sum(findings, run.get(Host).configFile) }] : lines;
    });
  },
});

function sum(findings: readonly Finding[], file = 'FILE'): string {
  const count = (...kinds: readonly Finding['kind'][]) => findings.filter(({ kind }) => kinds.includes(kind)).length;
  const inUse = count('in use');
  const without = count('no effect', 'warning');
  const [keys, have] = [inUse === 1 ? 'key' : 'keys', without === 1 ? 'has' : 'have'];
  return `${inUse} ${keys} in use, ${without} ${have} no effect here; "instar config check ${file}" lists them`;
}
