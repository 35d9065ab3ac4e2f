/** Removes archives in one decision, and then their bytes. */
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import type { Source } from '../../audit/records.ts';
import { invalidField } from '../../common/fault.ts';
import { countBytes } from '../../quotas/usage.ts';
import type { Batch } from '../../store/group-commit.ts';
import { boundTo } from '../bound.ts';
import { type BlobRecord, groupOf } from '../declared.ts';
import type { RemovedArchive } from '../fields.ts';
import { GroupChanges } from '../groups/repositories.ts';
import { blobs, commits, heads, order, repositoryOrder, setAside } from '../records.ts';
import type { StoredBytes } from '../stored/stored-bytes.ts';
import type { Staging } from '../upload/staging.ts';
import { removalRefused, type StoredArchive } from './decide.ts';

export interface RemovalsOptions {
  readonly actors: ActorRegistry;
  readonly staging: Staging;
  readonly bytes: StoredBytes;
  readonly now: () => number;
}

export interface RemovalResult {
  readonly removed: number;
  readonly bytes: number;
}

interface FoundBlob {
  readonly commitSha: string;
  readonly sha256: string;
  readonly record: BlobRecord;
}

export class Removals {
  readonly #options: RemovalsOptions;

  constructor(options: RemovalsOptions) {
    this.#options = options;
  }

  /**
   * Removes archives; those that do not exist are skipped, so it is safe to repeat. Throws Refusal `invalid_fields`, and
   * removes nothing, when one must stay.
   */
  async remove(accountId: string, wanted: readonly RemovedArchive[], source: Source): Promise<RemovalResult> {
    const { actors, staging, bytes, now } = this.#options;
    const gone = await actors.account(accountId).once(['archives removed', wanted], (batch): FoundBlob[] => {
      const found = foundOf(batch, accountId, wanted);
      if (found.length === 0) return found;
      refuseNeeded(batch, accountId, found);
      const groups = new GroupChanges(batch, accountId);
      for (const { commitSha, sha256, record } of found) {
        batch.remove(blobs, [accountId, commitSha, sha256]);
        batch.remove(order, [accountId, record.sequence]);
        batch.remove(setAside, [accountId, commitSha, sha256]);
        groups.remove({ commitSha, sha256 }, record);
        staging.orphan(batch, record.storage_id, accountId);
      }
      groups.write();
      nameNewest(batch, accountId, found);
      countBound(batch, accountId, found);
      countBytes(batch, accountId, 'blobs', -sumOf(found));
      const detail = found.length === 1 ? '1 archive' : `${found.length} archives`;
      noteAct(batch, accountId, { atMs: now(), act: 'mirror_archives_removed', source, detail });
      return found;
    });
    for (const { record } of gone) {
      bytes.noteRemoved(record.storage_id);
      await staging.discard(record.storage_id);
    }
    return { removed: gone.length, bytes: sumOf(gone) };
  }
}

const sumOf = (found: readonly FoundBlob[]) => found.reduce((sum, { record }) => sum + record.byte_size, 0);

function foundOf(batch: Batch, accountId: string, wanted: readonly RemovedArchive[]): FoundBlob[] {
  const names = new Map(wanted.map((one) => [`${one.commit_sha} ${one.sha256}`, one]));
  return [...names.values()].flatMap(({ commit_sha: commitSha, sha256 }) => {
    const record = batch.get(blobs, [accountId, commitSha, sha256]);
    return record === undefined ? [] : [{ commitSha, sha256, record }];
  });
}

function refuseNeeded(batch: Batch, accountId: string, found: readonly FoundBlob[]): void {
  const archives = [...new Set(found.map(({ record }) => groupOf(record)))].flatMap((group) =>
    batch.range(repositoryOrder, { prefix: [accountId, group] }).map(({ key, value }): StoredArchive => {
      const { commit_sha: commitSha, sha256 } = value;
      const base = batch.get(blobs, [accountId, commitSha, sha256])?.base_sha256 ?? null;
      return { commitSha, sha256, sequence: key[2], group, base };
    }),
  );
  const refused = removalRefused(archives, found);
  if (refused === undefined) return;
  const { archive, because } = refused;
  throw invalidField('archives', `the archive ${archive.sha256} of commit ${archive.commitSha} ${because}`);
}

/** A commit names its newest blob that is left. */
function nameNewest(batch: Batch, accountId: string, found: readonly FoundBlob[]): void {
  const gone = new Set(found.map(({ commitSha, sha256 }) => `${commitSha} ${sha256}`));
  for (const commitSha of new Set(found.map((one) => one.commitSha))) {
    const left = batch
      .range(blobs, { prefix: [accountId, commitSha] })
      .filter(({ key }) => !gone.has(`${commitSha} ${key[2]}`))
      .toSorted((one, other) => other.value.sequence - one.value.sequence);
    const [newest] = left;
    if (newest === undefined) batch.remove(commits, [accountId, commitSha]);
    else batch.put(commits, [accountId, commitSha], { sha256: newest.key[2] });
  }
}

/** The newest archive of the account stays, so its position does too. */
function countBound(batch: Batch, accountId: string, found: readonly FoundBlob[]): void {
  const head = batch.get(heads, [accountId]);
  if (head?.bound === undefined) return;
  const { archives_id } = head.bound;
  const leaving = found.filter(({ record }) => record.credential_id === archives_id).length;
  const archives = boundTo(batch, accountId, archives_id) - leaving;
  batch.put(heads, [accountId], { ...head, bound: { archives_id, archives } });
}
