import kernelCodes from './codes.json' with { type: 'json' };

/** Every code the kernel raises, with what it means to the person who reads it. */
export { kernelCodes };
export type KernelCode = keyof typeof kernelCodes;

/** Where it happened, and what caused it. */
export type ErrorFacts = { readonly [fact in 'plugin' | 'hook' | 'run']?: string | undefined } & { readonly cause?: unknown };

/** A code for programs and a message for people: what, where, what to do. Compare by `code`, never by `instanceof`. */
export class KernelError extends Error {
  readonly code: string;
  readonly facts: ErrorFacts;
  constructor(code: KernelCode | (string & {}), message: string, facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.name = 'KernelError';
    this.code = code;
    this.facts = facts;
  }
}

/** The one funnel: adds plugin, hook and run to a failure at the edge that knows them, once. */
export function funnel(cause: unknown, code: KernelCode, facts: ErrorFacts): KernelError {
  if (isCoded(cause) && cause.facts?.plugin) return cause as KernelError;
  const where = facts.hook ? `hook "${facts.hook}"` : 'setup';
  return new KernelError(code, `plugin "${facts.plugin}" failed in ${where}: ${messageOf(cause)}`, { ...facts, cause });
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const isCoded = (error: unknown): error is { code: string; message: string; facts?: ErrorFacts } =>
  typeof (error as { code?: unknown } | null)?.code === 'string';
