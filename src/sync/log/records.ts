/**
 * Defines the tables of vaults and file sync. A vault is a log: every change gets the next sequence number and one
 * immutable version, which is the finished NDJSON line sent by pulls. A file's row points to its newest version, and
 * each version to the previous one of the same path.
 */
import { bytesCodec, emptyRecordCodec, recordCodec } from '../../store/codec.ts';
import { intact } from '../../store/intact.ts';
import {
  type AnyTable,
  defineHeads,
  defineTable,
  defineUnsummedTable,
  defineWalked,
  type Reader,
} from '../../store/table.ts';
import { fileCodec, numbersCodec } from './codecs.ts';
import type { FileRecord } from './file-record.ts';
import { packTables } from './pack-records.ts';
import { type Encoding, hashedPartOf } from './version.ts';

export interface VaultRecord {
  readonly name: string;
  readonly is_primary: boolean;
  readonly created_at: string;
  /** Globs that replace the default list; null: the default list. */
  readonly protected_paths: readonly string[] | null;
}

/** The end of a vault's log, and exact counters of what is current. One row per vault, written with every change. */
export interface VaultHead {
  readonly seq: number;
  /** Time when the newest version was stored, in milliseconds. Increases with `seq`, except after a clock jump. */
  readonly stored_ms: number;
  /** The hub's hybrid logical clock. */
  readonly hlc_ms: number;
  readonly hlc_counter: number;
  readonly files: number;
  readonly tombstones: number;
  /** Content bytes of the current files. */
  readonly bytes: number;
  /** Bytes of the lines of the current files, without tombstones. */
  readonly line_bytes: number;
  /** Pending conflicts. */
  readonly pending: number;
  /** Content bytes of all kept versions and conflicts, plus `recordCountedBytes` for each of them. */
  readonly kept_bytes: number;
}

export type ConflictStatus = 'pending' | 'resolved' | 'superseded' | 'dismissed';
/** The refused change, then the hub's. */
export type ConflictKind = 'edit/edit' | 'edit/delete' | 'delete/edit' | 'create/create';

/** A refused push, and the version that it conflicts with. */
export interface ConflictRecord {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly status: ConflictStatus;
  readonly device_id: string;
  /** Null for a delete. */
  readonly your_sha256: string | null;
  readonly your_git_sha: string | null;
  readonly your_hlc: string;
  readonly size_bytes: number;
  readonly encoding: Encoding;
  readonly mtime: string | null;
  /** Absent in rows from before this field existed. */
  readonly executable?: boolean | undefined;
  /** The pieces with the bytes. 0: the bytes are stored in `sync_conflict_bytes`, or the push was a delete. */
  readonly storage_id: number;
  /** Bytes of those pieces, JSON-escaped. */
  readonly escaped_bytes: number;
  /** The newest version of the path when the push was refused; 0 when there was none. */
  readonly server_seq: number;
  /** Null when the path was deleted or never had a file. */
  readonly server_sha256: string | null;
  readonly server_git_sha: string | null;
  readonly server_hlc: string | null;
  readonly base_sha: string | null;
  readonly detected_at: string;
  readonly settled_at: string | null;
  /** The version that settled it, if any. */
  readonly settled_seq: number | null;
}

export const vaults = defineWalked<[accountId: string, vaultId: string], VaultRecord>('sync_vaults', recordCodec(1), {
  account: 0,
});

/** The vault used when an account names none. */
export const primaries = defineTable<[accountId: string], { readonly vault_id: string }>(
  'sync_primaries',
  recordCodec(1),
  { account: 0 },
);

/** The account of a vault, for work that starts from the vault. */
export const vaultOwners = defineTable<[vaultId: string], { readonly account_id: string }>(
  'sync_vault_owners',
  recordCodec(1),
  { account: { member: 'account_id' }, directory: 'new' },
);

/** Finds the account of a vault; undefined once the vault is deleted. */
export function accountOfVault(store: Pick<Reader, 'get'>): (vaultId: string) => string | undefined {
  return (vaultId) => intact(store, vaultOwners, [vaultId])?.account_id;
}

/** Deleted vaults whose rows are being removed. */
export const deletedVaults = defineTable<[vaultId: string], { readonly deleted_at: string }>(
  'sync_deleted_vaults',
  recordCodec(1),
  { account: 'any' },
);

export const vaultHeads = defineHeads<[vaultId: string], VaultHead>(
  'sync_heads',
  numbersCodec<VaultHead>([
    'seq',
    'stored_ms',
    'hlc_ms',
    'hlc_counter',
    'files',
    'tombstones',
    'bytes',
    'line_bytes',
    'pending',
    'kept_bytes',
  ]),
  { vault: 0 },
);

export const files = defineTable<[vaultId: string, foldedPath: string], FileRecord>('sync_files', fileCodec, {
  vault: 0,
});

/** Folders that contain anything live: the number of live files and such folders directly in each. No row: none. */
export const folders = defineTable<[vaultId: string, foldedPath: string], { readonly children: number }>(
  'sync_folders',
  recordCodec(1),
  { vault: 0 },
);

/** Versions by sequence number: a fixed head, then the finished line, or its first part (see version.ts). */
export const versions = defineTable<[vaultId: string, seq: number], Uint8Array>(
  'sync_versions',
  bytesCodec,
  { vault: 0 },
  hashedPartOf,
);

/**
 * The pieces of long contents, JSON-escaped, under a separate storage id for each content; they never move. Their hash is
 * in the version or conflict.
 */
export const pieces = defineUnsummedTable<[storageId: number, index: number], Uint8Array>('sync_pieces', bytesCodec, {
  staging: 'any',
  vault: 'any',
});

/** A staged list of chunks. */
interface HeldList {
  readonly vault_id: string;
  /** How many of its chunks, each once and in order, count it already. */
  readonly chunks: number;
}

export interface StagedRecord {
  readonly started_at: string;
  readonly held?: HeldList | undefined;
}

/** Storage ids of pieces that belong to nothing yet, or no longer. Leftovers of a crash are swept at the next start. */
export const stagedPieces = defineTable<[storageId: number], StagedRecord>('sync_staging', recordCodec(1), {
  staging: 'any',
  vault: 'any',
  directory: 'any',
});

/** Number of versions and conflicts that share the same pieces; no row: one. */
export const pieceShares = defineTable<[storageId: number], { readonly holders: number }>(
  'sync_piece_shares',
  recordCodec(1),
  { vault: 'any', directory: 'new', sweep: 'any' },
);

export interface ChunkRecord {
  /** The pieces with its bytes, as they are. */
  readonly storage_id: number;
  readonly bytes: number;
  /** Number of stored and staged lists that have this chunk, each once. */
  readonly holders: number;
  /** When its sender was last told that it is here, in milliseconds: in no list, it is removed after a time. */
  readonly since_ms: number;
}

/** The chunks of large files, each once a vault, by the SHA-256 of its bytes in hex. */
export const fileChunks = defineTable<[vaultId: string, sha256: string], ChunkRecord>('sync_chunks', recordCodec(1), {
  vault: 0,
});

export const conflicts = defineTable<[vaultId: string, conflictId: string], ConflictRecord>(
  'sync_conflicts',
  recordCodec(1),
  { vault: 0 },
);

export const pendingConflicts = defineTable<
  [vaultId: string, foldedPath: string, conflictId: string],
  Record<string, never>
>('sync_pending', emptyRecordCodec(1), { vault: 0 });

/** The bytes of a small refused push, decoded. Their hash is in the conflict. */
export const conflictBytes = defineUnsummedTable<[vaultId: string, conflictId: string], Uint8Array>(
  'sync_conflict_bytes',
  bytesCodec,
  { vault: 0 },
);

/**
 * Content bytes of the current files and pending conflicts of a vault; no row: none. The quota counts all vaults of an
 * account.
 */
export const usage = defineHeads<[vaultId: string], { readonly bytes: number }>('sync_usage', numbersCodec(['bytes']), {
  vault: 0,
});

export interface DeviceRecord {
  readonly last_seen_ms: number;
  /** The greatest sequence number that this device received in a pull. */
  readonly pulled_seq: number;
  readonly pushed_seq: number;
}

export const devices = defineTable<[vaultId: string, deviceId: string], DeviceRecord>('sync_devices', recordCodec(1), {
  vault: 0,
});

/** Versions with damaged contents, set aside by the operator: pulls of many files skip them until a push heals them. */
export const versionsAside = defineTable<[vaultId: string, seq: number], { readonly noted_at: string }>(
  'sync_set_aside',
  recordCodec(1),
  { vault: 0 },
);

export const syncTables: readonly AnyTable[] = [
  vaults,
  primaries,
  vaultOwners,
  deletedVaults,
  vaultHeads,
  files,
  folders,
  versions,
  pieces,
  pieceShares,
  stagedPieces,
  fileChunks,
  conflicts,
  pendingConflicts,
  conflictBytes,
  usage,
  devices,
  versionsAside,
  ...packTables,
];
