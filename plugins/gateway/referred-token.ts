import { CheckGeneration, type Context, GenerationSwapped, messageOf } from '../../kernel/index.ts';
import { secretOf, type SecretRef } from '../secrets/contract.ts';
import { type Token, tokenOf } from './token.ts';

/**
 * A token that the config refers to, resolved for each candidate: one in which it cannot be had is rejected. The first counts
 * at once, a later one from the swap on, of which `changed` is told.
 */
export function referredToken(ctx: Pick<Context, 'tap'>, ref: SecretRef, changed: (token: Token) => void): Token {
  let now: Token | undefined;
  let next: Token | undefined;
  ctx.tap(CheckGeneration, async (_, run) => {
    try {
      next = tokenOf((await secretOf(run, ref, 'gateway.auth.token')) ?? '');
      now ??= next;
      return undefined;
    } catch (cause) {
      return messageOf(cause);
    }
  });
  ctx.tap(GenerationSwapped, () => {
    if (!next || next.id === now?.id) return;
    now = next;
    changed(now);
  });
  return {
    get text() {
      return now?.text ?? '';
    },
    get id() {
      return now?.id ?? '';
    },
    matches: (offered) => now?.matches(offered) ?? false,
  };
}
