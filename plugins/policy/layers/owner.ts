import { ownerOnly } from '../groups.ts';
import type { Layer } from '../rules.ts';

/** SPEC 3.3: an unknown sender is not an owner. */
export const owner: Layer = {
  id: 'owner',
  stage: 30,
  judge({ name, ownerOnly: isMarked }, { subject: { sender = 'unknown' } }) {
    if ((!isMarked && !ownerOnly.has(name)) || sender === 'owner' || sender === 'internal') return undefined;
    return { layer: 'owner', why: `for owners alone; the sender is ${sender}`, rule: 'owner only' };
  },
};
