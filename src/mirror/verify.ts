/** Checks the mirror's data: re-hashes every blob, checks every index both ways, opens sealed fields. Read-only. */
import { createHash } from 'node:crypto';
import { limits } from '../limits/service.ts';
import type { CheckedReader } from '../store/checked-reader.ts';
import { keyText } from '../store/row-sums.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import { verifyGroups } from './groups/verify-groups.ts';
import {
  blobs,
  chunks,
  commits,
  credentials,
  heads,
  order,
  setAside,
  stagedUploads,
  tokenHashes,
  uploaders,
} from './records.ts';
import type { BlobKey } from './set-aside.ts';
import { jobAccessOf } from './uploaders.ts';

export interface MirrorReport {
  readonly blobs: number;
  readonly bytes: number;
  readonly credentials: number;
  /** Uploads in progress, or left by a crash and removed at the next start. */
  readonly staged: number;
  readonly problems: string[];
  /** Damaged blobs that are not set aside. */
  readonly damaged: readonly BlobKey[];
  /** One sentence for each damaged blob that is set aside. */
  readonly aside: readonly string[];
}

export function verifyMirror(reader: CheckedReader, sealer: Sealer): MirrorReport {
  const problems: string[] = [];
  const damaged: BlobKey[] = [];
  const aside: string[] = [];
  /** The blobs by storage id. */
  const owned = new Map<number, OwnedBytes>();
  let bytes = 0;
  reader.each(blobs, ({ key, value }) => {
    const [accountId, commitSha, sha256] = key;
    const name = `blob ${accountId} ${commitSha} ${sha256}`;
    owned.set(value.storage_id, { name, chunkCount: Math.ceil(value.byte_size / limits.chunkBytes) });
    bytes += value.byte_size;
    const broken = checkBytes(reader, value.storage_id, value.byte_size, sha256);
    if (broken !== undefined) {
      if (reader.get(setAside, key) === undefined) {
        problems.push(`${name}: ${broken}`);
        damaged.push(key);
      } else aside.push(`${name}: ${broken}`);
    }
    const placed = reader.get(order, [accountId, value.sequence]);
    if (placed?.sha256 !== sha256 || placed.commit_sha !== commitSha) {
      problems.push(`${name}: missing from the order of uploads at ${value.sequence}`);
    }
    if (reader.get(commits, [accountId, commitSha]) === undefined) {
      problems.push(`${name}: its commit has no newest blob`);
    }
  });
  // Includes hidden accounts: their bytes are stored too.
  const staged = new Set([...reader.keys(stagedUploads)].map(([storageId]) => storageId));
  problems.push(
    ...checkSetAside(reader),
    ...checkChunks(reader, owned, staged),
    ...checkOrder(reader),
    ...checkCommits(reader),
    ...verifyGroups(reader),
    ...checkCredentials(reader, sealer),
  );
  return {
    blobs: [...reader.keys(blobs)].length,
    bytes,
    credentials: [...reader.keys(credentials)].length,
    staged: staged.size,
    problems,
    damaged,
    aside,
  };
}

function checkSetAside(reader: CheckedReader): string[] {
  return [...reader.keys(setAside)]
    .filter((key) => reader.get(blobs, key) === undefined)
    .map((key) => `set aside ${keyText(key)}: there is no such blob`);
}

interface OwnedBytes {
  readonly name: string;
  readonly chunkCount: number;
}

function checkChunks(
  reader: CheckedReader,
  owned: ReadonlyMap<number, OwnedBytes>,
  staged: ReadonlySet<number>,
): string[] {
  const problems: string[] = [];
  for (const storageId of staged) {
    const blob = owned.get(storageId);
    if (blob !== undefined)
      problems.push(`${blob.name}: its bytes are marked as staged; the next start would delete them`);
  }
  reader.eachKey(chunks, ([storageId, index]) => {
    const blob = owned.get(storageId);
    if (blob === undefined && !staged.has(storageId)) {
      problems.push(`chunk ${storageId}/${index}: belongs to no blob and no running upload`);
    } else if (blob !== undefined && index >= blob.chunkCount) {
      problems.push(`${blob.name}: chunk ${index} is after its end`);
    }
  });
  return problems;
}

function checkBytes(reader: CheckedReader, storageId: number, byteSize: number, sha256: string): string | undefined {
  const hash = createHash('sha256');
  let bytes = 0;
  for (let index = 0; bytes < byteSize; index += 1) {
    const chunk = reader.view(chunks, [storageId, index]);
    const expected = Math.min(limits.chunkBytes, byteSize - bytes);
    if (chunk === undefined) return `chunk ${index} is missing`;
    if (chunk.length !== expected) return `chunk ${index} has ${chunk.length} bytes instead of ${expected}`;
    hash.update(chunk);
    bytes += chunk.length;
  }
  const actual = hash.digest('hex');
  return actual === sha256 ? undefined : `its bytes hash to ${actual}`;
}

function checkOrder(reader: CheckedReader): string[] {
  const problems: string[] = [];
  const last = new Map<string, { sequence: number; uploadedAt: string }>();
  reader.each(order, ({ key, value }) => {
    const [accountId, sequence] = key;
    const blob = reader.get(blobs, [accountId, value.commit_sha, value.sha256]);
    if (blob?.sequence !== sequence) {
      problems.push(
        `order ${accountId} ${sequence}: refers to ${value.commit_sha} ${value.sha256}, which does not exist`,
      );
      return;
    }
    const before = last.get(accountId);
    const backMs = before === undefined ? 0 : Date.parse(before.uploadedAt) - Date.parse(blob.uploaded_at);
    // A larger step back is allowed: a clock that had jumped ahead was corrected.
    if (before !== undefined && backMs > 0 && backMs <= limits.clockJumpMs) {
      problems.push(`order ${accountId} ${sequence}: uploaded before ${before.sequence}`);
    }
    last.set(accountId, { sequence, uploadedAt: blob.uploaded_at });
  });
  reader.each(heads, ({ key, value }) => {
    const newest = last.get(key[0]);
    if (value.sequence !== newest?.sequence) {
      problems.push(`head ${key[0]}: ${value.sequence} instead of ${newest?.sequence ?? 'none'}`);
    }
    last.delete(key[0]);
  });
  for (const accountId of last.keys()) problems.push(`head ${accountId}: missing`);
  return problems;
}

function checkCommits(reader: CheckedReader): string[] {
  const newest = new Map<string, { sequence: number; sha256: string }>();
  reader.each(blobs, ({ key, value }) => {
    const commit = `${key[0]} ${key[1]}`;
    const known = newest.get(commit);
    if (known === undefined || known.sequence < value.sequence) {
      newest.set(commit, { sequence: value.sequence, sha256: key[2] });
    }
  });
  const problems: string[] = [];
  reader.each(commits, ({ key, value }) => {
    const commit = `${key[0]} ${key[1]}`;
    if (newest.get(commit)?.sha256 !== value.sha256) problems.push(`commit ${commit}: does not name its newest blob`);
  });
  return problems;
}

function checkCredentials(reader: CheckedReader, sealer: Sealer): string[] {
  const problems: string[] = [];
  reader.each(credentials, ({ key, value }) => {
    const [accountId] = key;
    const hash = reader.get(tokenHashes, [value.token_hash]);
    if (hash?.account_id !== accountId || hash.credential_id !== value.credential_id) {
      problems.push(`credential ${accountId}: its token is not accepted`);
    }
    try {
      sealer.openDeterministic(accountId, 'mirror token', value.token);
      sealer.openRandom(accountId, 'mirror secret', value.hmac_secret);
    } catch {
      // The two failures need not be distinguished: the fields or the master key changed.
      problems.push(`credential ${accountId}: its sealed fields cannot be decrypted with this master key`);
    }
  });
  reader.each(uploaders, ({ key: [accountId, id], value }) => {
    const hash = reader.get(tokenHashes, [value.token_hash]);
    if (hash?.account_id !== accountId || hash.credential_id !== id)
      problems.push(`uploader ${accountId} ${id}: its token is not accepted`);
    if (reader.get(credentials, [accountId]) === undefined)
      problems.push(`uploader ${accountId} ${id}: the account has no credential`);
    if ((value.hmac_secret === undefined) !== (jobAccessOf(id) === 'download'))
      problems.push(`uploader ${accountId} ${id}: its secret does not fit what it may do`);
    try {
      if (value.hmac_secret !== undefined) sealer.openRandom(accountId, 'mirror secret', value.hmac_secret);
    } catch {
      // As above.
      problems.push(`uploader ${accountId} ${id}: its secret cannot be decrypted with this master key`);
    }
  });
  reader.each(tokenHashes, ({ key, value }) => {
    const named = jobAccessOf(value.credential_id)
      ? reader.get(uploaders, [value.account_id, value.credential_id])
      : reader.get(credentials, [value.account_id]);
    if (named?.token_hash !== key[0]) problems.push(`token of ${value.account_id}: belongs to no credential`);
  });
  return problems;
}
