import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../kernel/index.ts';
import { integrityOf } from './contents.ts';
import type { Installed } from './lock.ts';

/** How an installed plugin is no longer what was confirmed; undefined where it is. */
export function driftOf({ name, integrity, source }: Installed, home: string): string | undefined {
  const folder = join(home, 'plugins', name);
  if (!existsSync(folder)) return `${folder} is gone, though it was installed from ${source}`;
  try {
    return integrityOf(folder) === integrity ? undefined : `${folder} is not what was installed from ${source}: its content changed`;
  } catch (error) {
    return `${folder} is not what was installed from ${source}: ${messageOf(error)}`;
  }
}
