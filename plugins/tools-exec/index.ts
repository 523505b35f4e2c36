import { DecideTool, definePlugin, FilterPolicy, Host, RegisterTools, type Verdict } from '../../kernel/index.ts';
import { Approvals } from '../approvals/contract.ts';
import { exec } from './exec.ts';
import { judge } from './judge.ts';
import { type ExecArgs, scriptOf } from './script.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    security: {
      type: 'string',
      enum: ['deny', 'allowlist', 'full'],
      default: 'allowlist',
      description: 'deny: no command runs. allowlist: those of `allow`, others are asked for. full: every command.',
    },
    ask: {
      type: 'string',
      enum: ['off', 'on-miss', 'always'],
      default: 'on-miss',
      description: 'When a person is asked: never (what is not allowed is denied), for what is not allowed, for every command.',
    },
    allow: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Commands that run unasked, letter by letter.',
    },
  },
} as const;

export default definePlugin({
  name: 'tools-exec',
  description: 'Tool exec: runs a command in the workspace, asked for first unless tools.exec allows it',
  config: { at: 'tools.exec', schema },
  setup(ctx) {
    const { config } = ctx;
    ctx.tap(RegisterTools, (tools) => [...tools, exec]);
    ctx.tap(FilterPolicy, (offer, run) => {
      if (config.security !== 'deny') return offer;
      const removal = { tool: exec.name, why: 'tools.exec.security is "deny"', rule: run.get(Host).place('tools.exec.security') };
      return { tools: offer.tools.filter((tool) => tool.name !== exec.name), removed: [...offer.removed, removal] };
    });
    ctx.tap(DecideTool, async ({ tool, args }, run): Promise<Verdict | undefined> => {
      if (tool.name !== exec.name) return undefined;
      const script = scriptOf(args as unknown as ExecArgs);
      const verdict = judge(script, config, (path) => run.get(Host).place(path));
      if (verdict.kind !== 'ask' || config.ask === 'always') return verdict;
      const remembered = await run.find(Approvals)?.remembers(tool.name, script, run);
      return remembered ? { kind: 'allow', rule: 'answered "always" before' } : verdict;
    });
  },
});
