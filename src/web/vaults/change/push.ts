/** Changes a file from a page through the same checks as a push from a device, so nothing is overwritten silently. */
import { Refusal, type SyncConflict } from '../../../common/fault.ts';
import type { PushResult } from '../../../sync/push/step.ts';
import type { Sync } from '../../../sync/service.ts';
import { textContentOf } from '../../../text/text-content.ts';
import { authorOf, type MemberVisit } from '../../visit.ts';

export interface PageChange {
  readonly vaultId: string;
  readonly path: string;
  /** The hash of the version shown on the page; empty: no file may exist. */
  readonly base: string;
}

/** Result of a change: accepted, or a conflict because the file had changed. */
export type Changed =
  | { readonly kind: 'done'; readonly result: PushResult }
  | { readonly kind: 'conflict'; readonly conflict: SyncConflict };

/** Writes a file. Throws the refusals of `Push.push`, except conflicts. */
export function writeFile(sync: Sync, visit: MemberVisit, change: PageChange, bytes: Uint8Array): Promise<Changed> {
  const text = textContentOf(bytes);
  const content = text ?? Buffer.from(bytes).toString('base64');
  const encoding = text === undefined ? 'base64' : 'utf-8';
  return push(sync, visit, change, { content, encoding });
}

/** Renames a file, keeping its content. Throws the refusals of `Push.push`, except conflicts. */
export function renameFile(sync: Sync, visit: MemberVisit, change: PageChange, to: string): Promise<Changed> {
  return push(sync, visit, { ...change, path: to }, { from_path: change.path });
}

type Rest = Omit<Parameters<Sync['push']['push']>[1], 'path' | 'base_sha' | 'device_id' | 'mustHash' | 'vault_id'>;

async function push(sync: Sync, visit: MemberVisit, change: PageChange, rest: Rest): Promise<Changed> {
  const { vaultId, path, base } = change;
  const args = { path, base_sha: base, device_id: authorOf(visit), mustHash: false, vault_id: vaultId, ...rest };
  try {
    return { kind: 'done', result: await sync.push.push(visit.accountId, args, 'page') };
  } catch (error) {
    if (error instanceof Refusal && error.fault.kind === 'sync_conflict') {
      return { kind: 'conflict', conflict: error.fault };
    }
    throw error;
  }
}
