/** Owns what the pages of vaults ask of file sync. Types only. */

export interface VaultRow {
  readonly id: string;
  readonly name: string;
  readonly isPrimary: boolean;
  readonly files: number;
  readonly bytes: number;
  readonly pendingConflicts: number;
  /** Null: nothing was ever stored. */
  readonly changedAt: string | null;
}

export interface FileRow {
  readonly path: string;
  readonly seq: number;
  readonly deleted: boolean;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly storedAt: string;
  readonly deviceId: string;
}

export interface VersionRow {
  readonly seq: number;
  readonly path: string;
  readonly status: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly stored_at: string;
  readonly device_id: string;
  /** Only when the file had another path before. */
  readonly renamed_from?: string;
}

export interface ConflictRow {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  /** Who was refused. */
  readonly deviceId: string;
  readonly detectedAt: string;
  readonly status: string;
}

export interface ConflictSides {
  readonly conflict: ConflictRow;
  /** The refused bytes; undefined: the push was a delete. */
  readonly yours: Uint8Array | undefined;
  /** What is current; undefined: there is no file. */
  readonly current: { readonly file: FileRow; readonly bytes: Uint8Array } | undefined;
}

/** What stays of a conflict. */
export type KeptSide =
  | { readonly side: 'theirs' | 'yours' }
  | { readonly side: 'edited'; readonly text: string; readonly encoding: 'utf-8' };

/** Each refuses with `not_found` or `path_not_found` what is not of this account. */
export interface VaultService {
  list(accountId: string): VaultRow[];
  /** Refuses with `invalid_fields` on `name`. */
  create(accountId: string, name: string): Promise<{ readonly id: string; readonly isNew: boolean }>;
  files(
    accountId: string,
    vaultId: string,
    query: { readonly search: string; readonly after: string | undefined; readonly limit: number },
  ): Promise<{ readonly files: readonly FileRow[]; readonly next: string | undefined }>;
  /** The newest version of a path, a tombstone too. */
  file(accountId: string, vaultId: string, path: string): FileRow;
  history(
    accountId: string,
    query: {
      readonly vaultId: string;
      readonly path: string;
      readonly limit: number;
      readonly before: number | undefined;
    },
  ): Promise<{ readonly versions: readonly VersionRow[]; readonly hasMore: boolean }>;
  /** A version of a path. Its content is undefined where the path was deleted. */
  version(
    accountId: string,
    vaultId: string,
    path: string,
    seq: number,
  ): { readonly sizeBytes: number; readonly content: () => Uint8Array | undefined };
  restore(
    accountId: string,
    request: {
      readonly vaultId: string;
      readonly path: string;
      readonly seq: number;
      readonly baseSha: string | undefined;
    },
  ): Promise<unknown>;
  conflicts(
    accountId: string,
    query: { readonly vaultId: string; readonly limit: number; readonly cursor: string | undefined },
  ): Promise<{ readonly conflicts: readonly ConflictRow[]; readonly cursor: string | undefined }>;
  sides(accountId: string, vaultId: string, conflictId: string): ConflictSides;
  /** Both sides of a conflict merged by lines; undefined: one of them has to be chosen. */
  merged(accountId: string, vaultId: string, conflictId: string): Promise<string | undefined>;
  resolve(
    accountId: string,
    request: {
      readonly vaultId: string;
      readonly conflictId: string;
      readonly keep: KeptSide;
      readonly baseSha: string;
    },
  ): Promise<unknown>;
  /** The unified diff of two texts. */
  diff(before: string, after: string): Promise<string>;
}
