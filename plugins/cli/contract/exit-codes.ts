/** What a command's process ends with: those of sysexits.h where it has one. */
export const exitCodes = { failed: 1, usage: 64, portInUse: 69, locked: 75, config: 78, interrupted: 130 };
