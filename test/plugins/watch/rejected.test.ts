import { expect, test } from 'vitest';
import { GenerationRejected } from '../../../kernel/index.ts';
import watch from '../../../plugins/watch/index.ts';
import { bootTest } from '../../support/kernel.ts';

test('a rejection is told once for as long as its reason stays the same, and again after a change went live', async () => {
  await using t = await bootTest([watch]);
  const reject = (why: string) => t.kernel.run((run) => run.call(GenerationRejected, { error: new Error(why), generation: 1 }));
  for (const why of ['line 3', 'line 3', 'line 4', 'line 4']) await reject(why);
  const told = () => t.records.flatMap(({ message }) => /rejected, .*: (line \d)/.exec(message)?.[1] ?? []);
  expect(told()).toEqual(['line 3', 'line 4']);
  await t.reload('watch');
  await reject('line 4');
  expect(told()).toEqual(['line 3', 'line 4', 'line 4']);
});
