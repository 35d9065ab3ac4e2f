/** Who a member is: its name, and a random id of its data folder, by which it knows its own records after a crash. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from '../../store/data-file/sync-path.ts';

const FILE = 'member';

export interface MemberIdentity {
  readonly name: string;
  /** Of the data folder; only one process at a time has that. */
  readonly instance: string;
}

/** Reads the identity of a folder that this process has locked, and makes it when it is missing. */
export function memberIdentity(folder: string, name: string): MemberIdentity {
  const path = join(folder, FILE);
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (/^[0-9a-f]{32}$/.test(kept)) return { name, instance: kept };
  const instance = randomBytes(16).toString('hex');
  writeFileSync(path, `${instance}\n`, { mode: 0o600 });
  syncPath(folder);
  return { name, instance };
}
