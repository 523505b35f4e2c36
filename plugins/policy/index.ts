import { DecideTool, definePlugin, FilterPolicy, GenerationSwapped, messageOf, StartReport, type Verdict } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { findingsOf } from './findings.ts';
import { callRefusalOf, layers } from './layers.ts';
import { methodsFor } from './methods.ts';
import { narrow, ruleOf } from './removal.ts';
import type { ToolConfig } from './rules.ts';
import { agentSchema, groupSchema, schema } from './schema.ts';
import { standingOf } from './standing.ts';

export default definePlugin({
  name: 'policy',
  description: 'Which tools an agent may use, when offered and again when called. Without it every call is denied',
  config: {
    at: 'tools',
    schema,
    extends: { 'agents.entry': { tools: agentSchema }, 'agents.defaults': { tools: agentSchema }, 'channels.group': groupSchema },
  },
  setup(ctx) {
    const config = ctx.config as ToolConfig;
    for (const layer of layers) {
      ctx.tap(
        FilterPolicy,
        async (offer, run) => {
          const standing = await standingOf(run, config);
          return narrow((tool) => layer.judge(tool, standing), offer, run);
        },
        layer.stage,
      );
    }
    ctx.tap(DecideTool, async ({ tool, args }, run): Promise<Verdict | undefined> => {
      const refusal = callRefusalOf(tool, args, await standingOf(run, config));
      if (refusal) return { kind: 'deny', why: refusal.why, rule: ruleOf(refusal, run) };
      // A command is judged by its text: by tools-exec, or by nobody, which is a no.
      return tool.name === 'exec' ? undefined : { kind: 'allow', rule: 'tools' };
    });
    ctx.tap(Methods, (methods) => ({ ...methods, ...methodsFor(config) }));
    const problems = async (run: Parameters<typeof findingsOf>[0]) => {
      const findings = await findingsOf(run, config).catch((cause) => [
        { message: `could not be examined: ${messageOf(cause)}`, place: '' },
      ]);
      return findings.map(({ message, place }) => (place ? `${message} (${place})` : message));
    };
    ctx.tap(StartReport, async (lines, run) => [...lines, ...(await problems(run)).map((value) => ({ label: 'policy', value }))], 60);
    const told = new Set<string>();
    ctx.tap(GenerationSwapped, async ({ generation }, run) => {
      for (const line of await problems(run)) {
        if (generation > 1 && !told.has(line)) ctx.log.warn(line); // the first ones are in the start's report
        told.add(line);
      }
    });
  },
});
