import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupRulesOf } from '../../plugins/policy/contract.ts';
import { Routing } from '../../plugins/routing/contract.ts';
import { type Installation, installation } from './installation.ts';

const id = '12345';
/** Nobody of these is he whose id that is. */
const others = [
  '1234',
  '123456',
  '012345',
  '2345',
  ' 12345',
  '12345 ',
  '１２３４５',
  '12345\u200b',
  '@12345',
  'user:12345',
  'id:12345',
  'Alice',
  'alice',
  '*',
  '.*',
  '',
];

describe('S7: rules of a sender in a group are for his very id', () => {
  const groups = {
    g: { tools: { allow: ['read'] }, toolsBySender: { [id]: { allow: ['exec'] }, Alice: { allow: ['exec'] }, '': { allow: ['exec'] } } },
  };
  const allowed = (sender?: string) => groupRulesOf(groups, 'at', 'g', sender)?.rules.allow;
  test('he has them', () => expect(allowed(id)).toEqual(['exec']));
  test.each(others.filter((one) => one !== 'Alice'))('%j has not', (other) => expect(allowed(other)).toEqual(['read']));
  test('nor has who has no id, or a group that is called like something of the language', () => {
    expect(allowed(undefined)).toEqual(['read']);
    expect(groupRulesOf(groups, 'at', '__proto__', id)).toBeUndefined();
  });
});

describe('S7: a binding takes the chat of its very id', () => {
  let at: Installation;
  beforeAll(async () => {
    const binding = { agentId: 'b', match: { channel: 'telegram', accountId: '*', peer: { kind: 'direct', id } } };
    at = await installation({ agents: { list: [{ id: 'main' }, { id: 'b' }] }, bindings: [binding] });
  }, 30_000);
  afterAll(() => at[Symbol.asyncDispose]());

  const agentOf = (peer: string) =>
    at.run((run) => run.get(Routing).decide({ channel: 'telegram', peer: { kind: 'direct', id: peer } }, run).agentId);
  test('it does', async () => expect(await agentOf(id)).toBe('b'));
  test.each(others)('the chat of %j is not that', async (other) => expect(await agentOf(other)).toBe('main'));
});
