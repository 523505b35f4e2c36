import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../../plugins/models/contract.ts';
import { untilDecided } from '../../../plugins/runtime-embedded/silence.ts';

const shownOf = (deltas: readonly string[]) => {
  const passed: string[] = [];
  const { on, settle } = untilDecided((event: ModelEvent) => void passed.push(event.delta));
  for (const delta of deltas) on({ type: 'text', index: 0, delta });
  settle();
  return passed.join('');
};

test('SPEC 6.2: over any split of the stream, NO_REPLY is never shown and any other text is shown whole', () => {
  const text = fc.oneof(fc.constantFrom('NO_REPLY', ' NO_REPLY\n', 'NO_REPL', 'NO_REPLY!', 'NO', ''), fc.string());
  fc.assert(
    fc.property(text, fc.array(fc.nat(12)), (whole, cuts) => {
      const places = [...new Set(cuts)].toSorted((a, b) => a - b);
      const deltas = [0, ...places].map((at, i) => whole.slice(at, places[i] ?? whole.length));
      expect(shownOf(deltas)).toBe(whole.trim() === 'NO_REPLY' ? '' : whole);
    }),
  );
});
