import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AdmitRequest } from '../../../plugins/models/contract.ts';
import { plugin } from '../../support/kernel.ts';
import { ask, bootModels, providersAt, says, server, told } from '../../support/model-servers.ts';

const chain = { agents: { defaults: { model: { primary: 'a/1', fallbacks: ['b/1'] } }, list: [{ id: 'main' }] } };
const failover = { firstByteSeconds: 0.2, idleSeconds: 0.2, waitSeconds: 0 };

test('while a person is asked whether a request may go out its server is not late; after that its time begins', async () => {
  let isSilent = false;
  await using model = await server(({ path }, response) => {
    if (!isSilent || path.startsWith('/b')) says(response, path[1]);
  });
  const person = plugin('person', (ctx) => ctx.tap(AdmitRequest, () => pause(600, undefined))); // longer than a server may take
  await using t = await bootModels({ ...chain, failover, models: providersAt(model.url) }, [person]);
  expect(told(await ask(t))).toBe('a');
  isSilent = true;
  expect(told(await ask(t))).toBe('b');
  expect(model.seen.map(({ path }) => path[1])).toEqual(['a', 'a', 'b']);
});
