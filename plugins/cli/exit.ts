import { exitCodes } from './contract.ts';

/** A boot fails for the config, or for a required plugin; what deserves a code of its own is told by the innermost cause. */
export function exitCodeOf(error: unknown): number {
  const { code, cause } = error as { code?: string; cause?: unknown };
  if (code === 'GATEWAY_PORT_IN_USE') return exitCodes.portInUse;
  const inner = cause === undefined ? exitCodes.failed : exitCodeOf(cause);
  return inner === exitCodes.failed && code === 'BOOT_FAILED' ? exitCodes.config : inner;
}

/** How every failure is told: one line, its code first. */
export const errorLine = ({ code = 'UNEXPECTED', message }: { readonly code?: string; readonly message: string }) =>
  `instar: ${code}: ${message.replace(/\s*\n\s*/g, ' ')}`;
