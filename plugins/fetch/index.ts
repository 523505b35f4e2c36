import { definePlugin, Host, KernelError } from '../../kernel/index.ts';
import { SafeFetch } from './contract.ts';

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
  async setup(ctx) {
    const { host } = ctx.needs;
    const { allowPrivate } = ctx.config;
    const wrong = allowPrivate.length > 0 && (await noRange(allowPrivate));
    const cure = `"${wrong}" is no range; write one such as 10.0.0.0/8`;
    if (wrong) throw new KernelError('CONFIG_INVALID', `${host.place('fetch.allowPrivate')}: ${cure}`);
    // Lists of addresses, TLS and unpackers take a tenth of a start: they come with the first request.
    let opened: Promise<SafeFetch> | undefined;
    const open = async () => (await import('./safe-fetch.ts')).openSafeFetch(allowPrivate, `Instar/${host.version}`);
    ctx.provide(SafeFetch, { fetch: async (request, run) => (await (opened ??= open())).fetch(request, run) });
  },
});

async function noRange(entries: readonly string[]): Promise<string | undefined> {
  const { isRange } = await import('./addresses.ts');
  return entries.find((entry) => entry.includes('/') && !isRange(entry));
}
