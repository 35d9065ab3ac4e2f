/** Tells how old the backups of all accounts are, for alerts: the newest upload, and the repository that is worst off. */
import type { Walkable } from '../../store/table.ts';
import { blobs, proofs, repositories, repositoryOrder } from '../records.ts';

/** Times in milliseconds; undefined: there is none. */
export interface BackupAges {
  readonly newestUploadMs: number | undefined;
  /** Of the repository whose newest archive is the oldest. */
  readonly stalestUploadMs: number | undefined;
  /** Of the repository whose last proven restore is the oldest, among those that have one. */
  readonly stalestProofMs: number | undefined;
  /** Repositories by the outcome of their newest drill. */
  readonly repositories: Readonly<Record<'proven' | 'failed' | 'never', number>>;
}

/** Reads one row of each repository and its newest archive. */
export function backupAges(reader: Pick<Walkable, 'get' | 'range' | 'keysIn'>): BackupAges {
  const uploads: number[] = [];
  const proven: number[] = [];
  const counts = { proven: 0, failed: 0, never: 0 };
  for (const [accountId, group] of reader.keysIn(repositories, { prefix: [] })) {
    const [newest] = reader.range(repositoryOrder, { prefix: [accountId, group], reverse: true, limit: 1 });
    const blob = newest && reader.get(blobs, [accountId, newest.value.commit_sha, newest.value.sha256]);
    if (blob !== undefined) uploads.push(Date.parse(blob.uploaded_at));
    const proof = reader.get(proofs, [accountId, group]);
    counts[proof?.last_drill.outcome ?? 'never'] += 1;
    if (proof?.last_proven) proven.push(Date.parse(proof.last_proven.at));
  }
  return {
    newestUploadMs: extreme(uploads, (one, other) => one > other),
    stalestUploadMs: extreme(uploads, (one, other) => one < other),
    stalestProofMs: extreme(proven, (one, other) => one < other),
    repositories: counts,
  };
}

function extreme(times: readonly number[], isFurther: (one: number, other: number) => boolean): number | undefined {
  return times.reduce<number | undefined>((far, ms) => (far === undefined || isFurther(ms, far) ? ms : far), undefined);
}
