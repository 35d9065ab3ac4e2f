/** Checks the mirror's data: every blob re-hashed, every index in both directions, every sealed field opened. Only reads. */
import { createHash } from 'node:crypto';
import { limits } from '../limits.ts';
import type { Sealer } from '../store/seal.ts';
import type { Store } from '../store/store.ts';
import { blobs, chunks, commits, credentials, heads, order, staging, tokenHashes } from './records.ts';

export interface MirrorReport {
  readonly blobs: number;
  readonly bytes: number;
  readonly credentials: number;
  /** Uploads under way, or left by a crash and swept at the next start. */
  readonly staged: number;
  readonly problems: string[];
}

export function verifyMirror(store: Store, sealer: Sealer): MirrorReport {
  const problems: string[] = [];
  const owned = new Set<number>();
  let bytes = 0;
  for (const { key, value } of store.entries(blobs, { prefix: [] })) {
    const [accountId, commitSha, sha256] = key;
    const name = `blob ${accountId} ${commitSha} ${sha256}`;
    owned.add(value.storage_id);
    bytes += value.byte_size;
    const broken = checkBytes(store, value.storage_id, value.byte_size, sha256);
    if (broken !== undefined) problems.push(`${name}: ${broken}`);
    const placed = store.get(order, [accountId, value.sequence]);
    if (placed?.sha256 !== sha256 || placed.commit_sha !== commitSha) {
      problems.push(`${name}: the order of uploads does not hold it at ${value.sequence}`);
    }
    if (store.get(commits, [accountId, commitSha]) === undefined) {
      problems.push(`${name}: its commit has no newest blob`);
    }
  }
  problems.push(...checkOrder(store), ...checkCommits(store), ...checkCredentials(store, sealer));
  const staged = new Set([...store.keys(staging)].map(([storageId]) => storageId));
  for (const [storageId, index] of store.keys(chunks)) {
    if (owned.has(storageId) || staged.has(storageId)) continue;
    problems.push(`chunk ${storageId}/${index} belongs to no blob and to no upload under way`);
  }
  return {
    blobs: [...store.keys(blobs)].length,
    bytes,
    credentials: [...store.keys(credentials)].length,
    staged: staged.size,
    problems,
  };
}

function checkBytes(store: Store, storageId: number, byteSize: number, sha256: string): string | undefined {
  const hash = createHash('sha256');
  let bytes = 0;
  for (let index = 0; bytes < byteSize; index += 1) {
    const chunk = store.view(chunks, [storageId, index]);
    const expected = Math.min(limits.chunkBytes, byteSize - bytes);
    if (chunk === undefined) return `chunk ${index} is missing`;
    if (chunk.length !== expected) return `chunk ${index} has ${chunk.length} bytes instead of ${expected}`;
    hash.update(chunk);
    bytes += chunk.length;
  }
  const actual = hash.digest('hex');
  return actual === sha256 ? undefined : `its bytes hash to ${actual}`;
}

function checkOrder(store: Store): string[] {
  const problems: string[] = [];
  const last = new Map<string, { sequence: number; uploadedAt: string }>();
  for (const { key, value } of store.entries(order, { prefix: [] })) {
    const [accountId, sequence] = key;
    const blob = store.get(blobs, [accountId, value.commit_sha, value.sha256]);
    if (blob?.sequence !== sequence) {
      problems.push(`order ${accountId} ${sequence}: names ${value.commit_sha} ${value.sha256}, which is not there`);
      continue;
    }
    const before = last.get(accountId);
    if (before !== undefined && before.uploadedAt > blob.uploaded_at) {
      problems.push(`order ${accountId} ${sequence}: uploaded before ${before.sequence}`);
    }
    last.set(accountId, { sequence, uploadedAt: blob.uploaded_at });
  }
  for (const [accountId, newest] of last) {
    const head = store.get(heads, [accountId]);
    if (head?.sequence !== newest.sequence) problems.push(`head ${accountId}: does not stand at ${newest.sequence}`);
  }
  return problems;
}

function checkCommits(store: Store): string[] {
  const newest = new Map<string, { sequence: number; sha256: string }>();
  for (const { key, value } of store.entries(blobs, { prefix: [] })) {
    const commit = `${key[0]} ${key[1]}`;
    const known = newest.get(commit);
    if (known === undefined || known.sequence < value.sequence) {
      newest.set(commit, { sequence: value.sequence, sha256: key[2] });
    }
  }
  const problems: string[] = [];
  for (const { key, value } of store.entries(commits, { prefix: [] })) {
    const commit = `${key[0]} ${key[1]}`;
    if (newest.get(commit)?.sha256 !== value.sha256) problems.push(`commit ${commit}: does not name its newest blob`);
  }
  return problems;
}

function checkCredentials(store: Store, sealer: Sealer): string[] {
  const problems: string[] = [];
  for (const { key, value } of store.entries(credentials, { prefix: [] })) {
    const [accountId] = key;
    const hash = store.get(tokenHashes, [value.token_hash]);
    if (hash?.account_id !== accountId || hash.credential_id !== value.credential_id) {
      problems.push(`credential ${accountId}: its token opens nothing`);
    }
    try {
      sealer.openDeterministic(accountId, 'mirror token', value.token);
      sealer.openRandom(accountId, 'mirror secret', value.hmac_secret);
    } catch {
      // Which of the two failed would tell nothing more: the fields or the master key are not what they were.
      problems.push(`credential ${accountId}: its sealed fields do not open under this master key`);
    }
  }
  for (const { key, value } of store.entries(tokenHashes, { prefix: [] })) {
    const credential = store.get(credentials, [value.account_id]);
    if (credential?.token_hash !== key[0]) problems.push(`token of ${value.account_id}: belongs to no credential`);
  }
  return problems;
}
