export const exitCodes = { failed: 1, usage: 64, locked: 75, config: 78, interrupted: 130 };

/** How every failure is told: one line, its code first. */
export const errorLine = ({ code = 'UNEXPECTED', message }: { readonly code?: string; readonly message: string }) =>
  `instar: ${code}: ${message.replace(/\s*\n\s*/g, ' ')}`;
