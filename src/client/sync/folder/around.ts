/** Finds the synced folder around a path. It reads no file: a status needs hardly more. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OWN_FOLDER } from './path.ts';

/** The path of the state of a synced folder. */
export const statePath = (folder: string): string => join(folder, OWN_FOLDER, 'state.json');

/** The synced folder at or above a folder; undefined when there is none. */
export function syncedAround(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(statePath(at))) return at;
    if (dirname(at) === at) return undefined;
  }
}
