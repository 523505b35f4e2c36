import type { RunCommand } from '../contract.ts';
import { switchPlugin } from './switch.ts';

/** `instar plugins disable NAME`. */
export const run: RunCommand = (argv, host) => switchPlugin(argv, host, false);
