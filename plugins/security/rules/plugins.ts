import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Host } from '../../../kernel/index.ts';
import type { Finding } from '../contract.ts';
import { closing } from './files.ts';
import { foreignOwner, writable } from './modes.ts';

/** Plugins run as we do: whoever may write where they lie, or where new ones are found, is us. */
export function pluginFindings(host: Host): readonly Finding[] {
  const { plugins, roots } = host.sources();
  const folders = plugins.flatMap((file) => [file, dirname(file)]);
  const seen = new Map<string, Finding>();
  for (const place of [...new Set([...folders, ...roots])].filter((one) => existsSync(one))) {
    const finding = findingOf(place);
    if (finding && !seen.has(finding.file ?? '')) seen.set(finding.file ?? '', finding);
  }
  return [...seen.values()];
}

function findingOf(place: string): Finding | undefined {
  const owner = foreignOwner(place);
  if (owner !== undefined) {
    const message = `plugin code at ${place} belongs to user ${owner}, who may change it`;
    return {
      severity: 'severe',
      code: 'plugin-foreign',
      message,
      file: place,
      mend: 'copy the plugin into plugins/ of the state folder, as your own',
    };
  }
  const open = writable(place);
  if (!open) return undefined;
  const who = open.who === 'everybody' ? 'everybody of this machine' : 'the group of it';
  const message = `${open.at} can be written by ${who}, and plugin code is run from ${place === open.at ? 'there' : place}`;
  return { severity: open.who === 'everybody' ? 'severe' : 'warning', code: 'plugin-writable', message, ...closing(open.at, 0o022) };
}
