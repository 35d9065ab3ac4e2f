/** Defines the tables of the certificate mirror. A blob's bytes are chunks under its storage id and never move. */
import { bytesCodec, emptyRecordCodec, recordCodec } from '../store/codec.ts';
import { type AnyTable, defineHeads, defineTable, defineUnsummedTable } from '../store/table.ts';
import type { BlobRecord } from './declared.ts';

export interface CredentialRecord {
  readonly credential_id: string;
  /** Sealed deterministically, so that it can be returned again unchanged. */
  readonly token: Uint8Array;
  /** Sealed with a random nonce; returned only at creation. */
  readonly hmac_secret: Uint8Array;
  readonly token_hash: string;
  readonly created_at: string;
  /** Archives are bound to this id; absent: to `credential_id`. A rotation that keeps the archives passes it on. */
  readonly archives_id?: string;
}

/** Returns the id that archives readable under a credential are bound to. */
export function archivesIdOf({ archives_id, credential_id }: CredentialRecord): string {
  return archives_id ?? credential_id;
}

/**
 * A credential of a CI job, which uploads and nothing else, or downloads and nothing else. Its archives are those of the
 * account's credential.
 */
export interface UploaderRecord {
  readonly name: string;
  /** Sealed with a random nonce; returned only at creation. Absent: it downloads, so it has nothing to sign with. */
  readonly hmac_secret?: Uint8Array;
  readonly token_hash: string;
  readonly created_at: string;
}

/** One row per account: the last position in its upload order. */
export interface MirrorHead {
  readonly sequence: number;
  readonly uploaded_at: string;
  /** How many archives are bound to this id; absent: not counted yet. Under another id it is 0. */
  readonly bound?: { readonly archives_id: string; readonly archives: number };
}

export interface StagingRecord {
  readonly account_id: string;
  readonly started_at: string;
}

export const credentials = defineTable<[accountId: string], CredentialRecord>('mirror_credentials', recordCodec(1), {
  account: 0,
  directory: 'new',
});

export const uploaders = defineTable<[accountId: string, uploaderId: string], UploaderRecord>(
  'mirror_uploaders',
  recordCodec(1),
  { account: 0 },
);

/** The current credential, and those of CI jobs, by the keyed hash of their tokens. */
export const tokenHashes = defineTable<[hash: string], { readonly account_id: string; readonly credential_id: string }>(
  'mirror_token_hashes',
  recordCodec(1),
  { account: { member: 'account_id' }, directory: 'new' },
);

export const heads = defineHeads<[accountId: string], MirrorHead>('mirror_heads', recordCodec(1), { account: 0 });

export const blobs = defineTable<[accountId: string, commitSha: string, sha256: string], BlobRecord>(
  'mirror_blobs',
  recordCodec(1),
  { account: 0 },
);

/** The newest blob of each commit. */
export const commits = defineTable<[accountId: string, commitSha: string], { readonly sha256: string }>(
  'mirror_commits',
  recordCodec(1),
  { account: 0 },
);

/** Blobs in upload order. */
export const order = defineTable<
  [accountId: string, sequence: number],
  { readonly commit_sha: string; readonly sha256: string }
>('mirror_order', recordCodec(1), { account: 0 });

/** Archives of one repository, or of none (`unknown`), in upload order. */
export const repositoryOrder = defineTable<
  [accountId: string, group: string, sequence: number],
  { readonly commit_sha: string; readonly sha256: string }
>('mirror_repository_order', recordCodec(1), { account: 0 });

/** Archives of a repository by hash, which increments refer to. The same bytes may belong to several commits. */
export const repositoryArchives = defineTable<
  [accountId: string, repositoryId: string, sha256: string, commitSha: string],
  Record<string, never>
>('mirror_repository_archives', emptyRecordCodec(1), { account: 0 });

/** What one repository holds. There is a row while it has an archive. */
export interface RepositoryRecord {
  /** Of the newest upload that had one. */
  readonly label: string | null;
  readonly archives: number;
  readonly bytes: number;
}

export const repositories = defineTable<[accountId: string, group: string], RepositoryRecord>(
  'mirror_repositories',
  recordCodec(1),
  { account: 0 },
);

/** A restore that somebody tried. */
export interface DrillRecord {
  readonly repository_id: string | null;
  readonly commit_sha: string;
  readonly sha256: string;
  readonly outcome: 'proven' | 'failed';
  readonly detail: string | null;
  readonly at: string;
}

/** Restore drills of an account, numbered in order. */
export const drills = defineTable<[accountId: string, number: number], DrillRecord>('mirror_drills', recordCodec(1), {
  account: 0,
});

/** The newest drill of a repository, and the newest one that proved a restore. */
export const proofs = defineTable<
  [accountId: string, group: string],
  { readonly last_drill: DrillRecord; readonly last_proven: DrillRecord | null }
>('mirror_proofs', recordCodec(1), { account: 0 });

/** The bytes of blobs. Their hash is in the blob. */
export const chunks = defineUnsummedTable<[storageId: number, index: number], Uint8Array>('mirror_chunks', bytesCodec, {
  staging: 'any',
  account: 'any',
});

/** Storage ids of chunks without a blob yet. The next start removes those left by a crash. */
export const stagedUploads = defineTable<[storageId: number], StagingRecord>('mirror_staging', recordCodec(1), {
  staging: 'any',
  account: 'any',
  directory: 'any',
});

/** Damaged blobs set aside by the operator: not the latest until an upload heals them. */
export const setAside = defineTable<
  [accountId: string, commitSha: string, sha256: string],
  { readonly noted_at: string }
>('mirror_set_aside', recordCodec(1), { account: 0 });

export const mirrorTables: readonly AnyTable[] = [
  credentials,
  uploaders,
  tokenHashes,
  heads,
  blobs,
  commits,
  order,
  repositoryOrder,
  repositoryArchives,
  repositories,
  drills,
  proofs,
  chunks,
  stagedUploads,
  setAside,
];
