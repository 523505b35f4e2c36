import { definePlugin, Host, KernelError } from '../../kernel/index.ts';
import { isRange } from './addresses.ts';
import { SafeFetch } from './contract.ts';
import { openSafeFetch } from './safe-fetch.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'Addresses that agents may fetch',
  properties: {
    allowPrivate: {
      type: 'array',
      default: [],
      items: { type: 'string', pattern: '^[^\\s/]+(/\\d{1,3})?$' },
      examples: [['192.168.1.7', '198.18.0.0/15', 'nas.local']],
      description:
        'Private addresses that may be fetched all the same: addresses, ranges such as 198.18.0.0/15 (proxies with made-up addresses), names, *.lan',
    },
  },
} as const;

export default definePlugin({
  name: 'fetch',
  description: 'The guarded way out to web addresses: none of this machine, of private networks or of metadata services',
  config: { at: 'fetch', schema },
  needs: { host: Host },
  provides: [SafeFetch],
  setup(ctx) {
    const wrong = ctx.config.allowPrivate.find((entry) => entry.includes('/') && !isRange(entry));
    if (wrong)
      throw new KernelError(
        'CONFIG_INVALID',
        `${ctx.needs.host.place('fetch.allowPrivate')}: "${wrong}" is no range; write one such as 10.0.0.0/8`,
      );
    ctx.provide(SafeFetch, openSafeFetch(ctx.config.allowPrivate, `Instar/${ctx.needs.host.version}`));
  },
});
