import { expect, test } from 'vitest';
import { type FetchRequest, SafeFetch } from '../../../plugins/fetch/contract.ts';
import fetchPlugin from '../../../plugins/fetch/index.ts';
import { bootTest } from '../../support/kernel.ts';

/** Nobody listens there. */
const url = 'http://127.0.0.1:9/canary1/search?key=canary2';

test('S15: of an address that the owner’s config named an error tells the origin, of another one all', async () => {
  await using booted = await bootTest([fetchPlugin], { fetch: { allowPrivate: ['127.0.0.1'] } });
  const messageOf = (request: FetchRequest) =>
    booted.kernel.run((run) => run.get(SafeFetch).fetch(request, run)).then(String, (error: Error) => error.message);
  expect(await messageOf({ url, owned: ['127.0.0.1'] })).toMatch(/^http:\/\/127\.0\.0\.1:9 could not be fetched: /);
  expect(await messageOf({ url, owned: [], timeoutMs: 1000 })).not.toContain('canary');
  expect(await messageOf({ url })).toContain('canary2');
});
