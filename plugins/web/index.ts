import { definePlugin } from '../../kernel/index.ts';
import { type Exchange, Routes } from '../gateway/contract.ts';
import { createAssets } from './assets.ts';

export default definePlugin({
  name: 'web',
  description: 'The page: chat, sessions, approvals and plugins in a browser',
  setup(ctx) {
    const assets = createAssets();

    async function serve({ url, headers, raw }: Exchange) {
      const { status, headers: replyHeaders, body } = await assets(url.pathname, headers);
      raw.response.writeHead(status, { ...replyHeaders, ...(status !== 304 && { 'content-length': body.length }) });
      raw.response.end(body);
    }

    ctx.tap(Routes, (routes) => [
      ...routes,
      ...['/', '/page/*', '/vendor/*'].map((path) => ({ method: 'GET', path, auth: 'public', handle: serve }) as const),
      // A browser cannot see why a WebSocket was refused; the page asks here whether its token is the reason.
      { method: 'GET', path: '/access', handle: ({ raw }: Exchange) => void raw.response.writeHead(204).end() } as const,
    ]);
  },
});
