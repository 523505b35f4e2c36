import { CheckGeneration, definePlugin, Host } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { Routing } from './contract.ts';
import { danglingFaults, patternFaults } from './faults.ts';
import { explainMethod } from './methods.ts';
import { openRouting } from './routing.ts';
import { type Binding, groupChatFields, schema, sessionFields } from './schema.ts';

export default definePlugin({
  name: 'routing',
  description: 'Which agent a message is for, and in which session: bindings, session keys, mentions',
  config: {
    at: 'bindings',
    schema,
    faults: danglingFaults,
    extends: { session: sessionFields, 'agents.groupChat': groupChatFields },
  },
  needs: { host: Host },
  provides: [Routing],
  setup(ctx) {
    const { host } = ctx.needs;
    const bindings: readonly Binding[] = (ctx.config as readonly Binding[] | undefined) ?? [];
    const routing = openRouting(bindings);
    ctx.provide(Routing, routing);
    // Asked of each candidate and not at setup: agents come and go without a change of the bindings.
    ctx.tap(CheckGeneration, async (_, run) => {
      const agents = run.find(Agents);
      const faults = agents ? await patternFaults(agents, (path) => host.place(path)) : [];
      return faults.length ? faults.join('\n') : undefined;
    });
    const explain = explainMethod(bindings, routing, (path) => host.place(path));
    ctx.tap(Methods, (methods) => ({ ...methods, 'route.explain': explain }));
  },
});
