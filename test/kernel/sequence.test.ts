import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Run, service, type Service, waterfall } from '../../kernel/index.ts';
import { entry, plugin, testKernel, type TestKernel } from '../support/kernel.ts';

const names = ['a', 'b', 'c', 'd', 'e'] as const;
const Words = waterfall<readonly string[]>('test.words');
const Ids = waterfall<readonly number[]>('test.ids');
const tokens = Object.fromEntries(names.map((name) => [name, service<string>(`test.${name}`)])) as Record<string, Service<string>>;

interface Spec {
  readonly name: string;
  readonly version: number;
  readonly needs: readonly string[];
  readonly fails: boolean;
}

const spec = fc.record({
  name: fc.constantFrom(...names),
  version: fc.nat(2),
  needs: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
  fails: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const specs = (constraints: object) => fc.uniqueArray(spec, { selector: ({ name }) => name, ...constraints });
/** Small edits, as people make them: most plugins stay as they are from one candidate to the next. */
const edit = fc.record({ changed: specs({ maxLength: 2 }), removed: fc.option(fc.constantFrom(...names)), isWatched: fc.boolean() });
const sequences = fc.record({ first: specs({ minLength: 3 }), edits: fc.array(edit, { minLength: 1, maxLength: 8 }) });

/** What was built and opened, and what became of it. */
class World {
  readonly built: number[] = [];
  readonly disposed: number[] = [];
  readonly open = new Set<string>();

  /** Says what it is and what it stands on, so that a dependent of an old instance shows. */
  entryOf(it: Spec) {
    const setup: Parameters<typeof plugin>[1] = async (ctx) => {
      const id = this.built.length;
      this.built.push(id);
      ctx.defer(() => void this.disposed.push(id));
      await ctx.lease(it.name, () => this.#openLease(it.name));
      if (it.fails) throw new Error('no');
      const word = `${it.name}${it.version}(${Object.values(ctx.needs).join()})`;
      ctx.provide(tokens[it.name]!, word);
      ctx.tap(Words, (words) => [...words, word]);
      ctx.tap(Ids, (ids) => [...ids, id]);
    };
    const needs = Object.fromEntries(it.needs.map((need) => [need, tokens[need]!]));
    return entry(plugin(it.name, setup, { needs, provides: [tokens[it.name]!] }), JSON.stringify(it));
  }

  #openLease(name: string) {
    if (this.open.has(name)) throw new Error(`lease ${name} is open already`);
    this.open.add(name);
    const close = async () => {
      await setImmediate();
      this.open.delete(name);
    };
    return { [Symbol.asyncDispose]: close };
  }
}

test('any sequence of good and bad candidates ends as a fresh start of the last good one, and leaves nothing behind', async () => {
  const property = fc.asyncProperty(sequences, async ({ first, edits }) => {
    const world = new World();
    const t = await testKernel({ home: '/nowhere' });
    const apply = (candidate: readonly Spec[]) => t.apply(candidate.map((it) => world.entryOf(it)));
    const finish = Promise.withResolvers<void>();
    const watchers: Promise<void>[] = [];
    let good = first;
    await apply(first);
    for (const { changed, removed, isWatched } of edits) {
      const kept = good.filter(({ name }) => name !== removed && !changed.some((it) => it.name === name));
      const candidate = [...kept, ...changed];
      good = await apply(candidate).then(
        () => candidate,
        () => good,
      );
      const before = await words(t);
      const watch = async (run: Run) => {
        await finish.promise;
        expect(await run.call(Words, [])).toEqual(before);
        expect(new Set(world.disposed).isDisjointFrom(new Set(await run.call(Ids, [])))).toBe(true);
      };
      if (isWatched) watchers.push(t.kernel.run(watch));
    }
    expect(await stateOf(t)).toEqual(await freshStart(good));

    finish.resolve();
    await Promise.all(watchers);
    await t.kernel.drain();
    expect(world.disposed.toSorted((a, b) => a - b)).toEqual(world.built);
    expect([...world.open, ...t.kernel.inspect().leases]).toEqual([]);
    expect(codesOf(t).filter((code) => code.startsWith('DISPOSE'))).toEqual([]);
  });
  await fc.assert(property, { numRuns: 150 });
});

async function freshStart(candidate: readonly Spec[]) {
  const world = new World();
  await using t = await testKernel({ home: '/nowhere' });
  await t.apply(candidate.map((it) => world.entryOf(it)));
  return await stateOf(t);
}

async function stateOf(t: TestKernel) {
  const { instances, leftOut } = t.kernel.inspect();
  return {
    words: await words(t),
    instances: instances.map(({ plugin: name, needs, provides, hooks, leases }) => ({ name, needs, provides, hooks, leases })),
    leftOut: leftOut.map(({ plugin: name, code }) => ({ name, code })),
  };
}

const words = (t: TestKernel) => t.kernel.run((run) => run.call(Words, []));
const codesOf = (t: TestKernel) => t.records.map(({ error }) => (error as { code: string }).code);
