/** The kernel's public entry: all that a plugin imports. */
export { KernelError, isCoded, kernelCodes, messageOf, type ErrorFacts } from './error.ts';
export type { Leasable } from './lease.ts';
export { type Level, type Log, logOf, type LogRecord } from './log.ts';
export * from './plugin.ts';
export * from './points.ts';
export { given, type EnterRun, type Given, type Run, type RunOptions } from './run.ts';
export * from './token.ts';
export * from './host/contract.ts';
