import { dirname } from 'node:path';
import type { CommandHost } from '../../cli/contract.ts';

/** A value as a person writes it. */
export const valueText = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value));

/** A place without the folder of the main config file. */
export function shortPlace(place: string, { configFile }: Pick<CommandHost, 'configFile'>): string {
  const folder = configFile && `${dirname(configFile)}/`;
  return folder && place.startsWith(folder) ? place.slice(folder.length) : place;
}
