import { definePlugin, Host } from '../../kernel/index.ts';
import { AdapterFor } from '../models/contract.ts';
import { piAdapter } from './adapter.ts';
import { protocols } from './protocols.ts';

export default definePlugin({
  name: 'models-pi',
  description: 'Speaks the protocols of OpenAI (responses), Anthropic and Google, through pi-ai',
  needs: { host: Host },
  setup(ctx) {
    const userAgent = `instar/${ctx.needs.host.version}`;
    const adapters = new Map(protocols.map((protocol) => [protocol.api, piAdapter(protocol, userAgent)]));
    ctx.tap(AdapterFor, (api) => adapters.get(api));
  },
});
