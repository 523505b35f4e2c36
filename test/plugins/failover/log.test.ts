import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { AdmitRequest } from '../../../plugins/models/contract.ts';
import { product } from '../runtime-embedded/product.ts';

test('a request that is not admitted, such as by a budget, is one line of the log', async () => {
  const miser = definePlugin({
    name: 'miser',
    description: 'admits nothing',
    setup: (ctx) => ctx.tap(AdmitRequest, () => ({ code: 'BUDGET_EXCEEDED', message: 'too dear' })),
  });
  await using p = await product(['never said'], { plugins: [miser], off: ['budget'] });
  expect((await p.channel.ask('go')).meta.error).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  const lines = p.t.records.filter(({ message }) => message.includes('too dear'));
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([expect.stringMatching(/^warn turn \S+ failed: .*too dear/)]);
});
