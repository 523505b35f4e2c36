import { definePlugin, Host } from '../../kernel/index.ts';
import { AdapterFor } from '../models/contract.ts';
import { completions } from './adapter.ts';
import { connections } from './exchange.ts';

export default definePlugin({
  name: 'models-openai',
  description: 'Speaks the OpenAI chat completions protocol: OpenAI and every server compatible with it, local ones too',
  needs: { host: Host },
  async setup(ctx) {
    const { host } = ctx.needs;
    const pool = await ctx.lease('models-openai:connections', () => connections(host.env));
    const adapter = completions(pool, `instar/${host.version}`);
    ctx.tap(AdapterFor, (api) => (api === adapter.api ? adapter : undefined));
  },
});
