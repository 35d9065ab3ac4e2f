/** Migrates the data file to schema 7: archives have facts about their repository, and those of before are grouped. */
import { recordCodec } from '../../store/codec.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { defineUnsummedTable } from '../../store/table.ts';

/** The rows as this migration reads and writes them. */
interface OldBlob {
  readonly byte_size: number;
  readonly sequence: number;
}
const blobs = defineUnsummedTable<[accountId: string, commitSha: string, sha256: string], OldBlob>(
  'mirror_blobs',
  recordCodec(1),
  {},
);
const repositoryOrder = defineUnsummedTable<
  [accountId: string, group: string, sequence: number],
  { readonly commit_sha: string; readonly sha256: string }
>('mirror_repository_order', recordCodec(1), {});
const repositories = defineUnsummedTable<
  [accountId: string, group: string],
  { readonly label: null; readonly archives: number; readonly bytes: number }
>('mirror_repositories', recordCodec(1), {});

const UNKNOWN = 'unknown';
const FACTS = { repository_id: null, repository_label: null, base_sha256: null, archive_kind: null };
/** Blobs per commit. */
const PIECE_ROWS = 500;

export const groupedBlobs: Migration = {
  to: 7,
  what: 'backups are grouped by repository',
  tables: [],
  check: () => [],
  piece(batch, from) {
    const rows = batch.range(blobs, { prefix: [], limit: PIECE_ROWS, ...(from === undefined ? {} : { beyond: from }) });
    // A batch does not read its own writes.
    const totals = new Map<string, { archives: number; bytes: number }>();
    for (const { key, value } of rows) {
      const [accountId, commit_sha, sha256] = key;
      batch.put(blobs, key, { ...value, ...FACTS });
      batch.put(repositoryOrder, [accountId, UNKNOWN, value.sequence], { commit_sha, sha256 });
      const { archives, bytes } = totals.get(accountId) ??
        batch.get(repositories, [accountId, UNKNOWN]) ?? { archives: 0, bytes: 0 };
      totals.set(accountId, { archives: archives + 1, bytes: bytes + value.byte_size });
    }
    for (const [accountId, total] of totals) batch.put(repositories, [accountId, UNKNOWN], { label: null, ...total });
    return rows.length < PIECE_ROWS ? undefined : rows.at(-1)?.key;
  },
};
