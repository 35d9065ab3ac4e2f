/** Groups archives by repository: the index rows and totals that a decision keeps beside the rows of blobs. */
import type { Batch } from '../../store/group-commit.ts';
import type { Reader } from '../../store/table.ts';
import { type BlobRecord, groupOf } from '../declared.ts';
import { blobs, type RepositoryRecord, repositories, repositoryArchives, repositoryOrder } from '../records.ts';

/** A blob of an account, as its rows name it. */
export interface BlobName {
  readonly commitSha: string;
  readonly sha256: string;
}

/** Changes of groups within one decision. A batch does not read its own writes, so totals are written at the end. */
export class GroupChanges {
  readonly #batch: Batch;
  readonly #accountId: string;
  readonly #totals = new Map<string, RepositoryRecord>();

  constructor(batch: Batch, accountId: string) {
    this.#batch = batch;
    this.#accountId = accountId;
  }

  /** Adds a blob to its group as the newest. */
  add({ commitSha, sha256 }: BlobName, record: BlobRecord): void {
    const [batch, accountId] = [this.#batch, this.#accountId];
    batch.put(repositoryOrder, [accountId, groupOf(record), record.sequence], { commit_sha: commitSha, sha256 });
    if (record.repository_id !== null)
      batch.put(repositoryArchives, [accountId, record.repository_id, sha256, commitSha], {});
    this.#count(record, 1);
  }

  /** Takes a blob out of its group. */
  remove({ commitSha, sha256 }: BlobName, record: BlobRecord): void {
    const [batch, accountId] = [this.#batch, this.#accountId];
    batch.remove(repositoryOrder, [accountId, groupOf(record), record.sequence]);
    if (record.repository_id !== null)
      batch.remove(repositoryArchives, [accountId, record.repository_id, sha256, commitSha]);
    this.#count(record, -1);
  }

  /** Writes the totals. A group ends with its last archive. */
  write(): void {
    for (const [group, total] of this.#totals) {
      if (total.archives === 0) this.#batch.remove(repositories, [this.#accountId, group]);
      else this.#batch.put(repositories, [this.#accountId, group], total);
    }
  }

  #count(record: BlobRecord, archives: 1 | -1): void {
    const group = groupOf(record);
    const known = this.#totals.get(group) ?? this.#batch.get(repositories, [this.#accountId, group]);
    this.#totals.set(group, {
      label: (archives === 1 ? record.repository_label : null) ?? known?.label ?? null,
      archives: (known?.archives ?? 0) + archives,
      bytes: (known?.bytes ?? 0) + archives * record.byte_size,
    });
  }
}

/** Returns an archive of a repository by its hash; undefined: there is none. */
export function archiveOf(
  reader: Pick<Reader, 'get' | 'range'>,
  accountId: string,
  repositoryId: string,
  sha256: string,
): BlobRecord | undefined {
  const [found] = reader.range(repositoryArchives, { prefix: [accountId, repositoryId, sha256], limit: 1 });
  return found && reader.get(blobs, [accountId, found.key[3], sha256]);
}
