/** The row of a path: its newest version, or its tombstone. */

/** The newest version of a path; a deleted path keeps its row as a tombstone. */
export interface FileRecord {
  /** As it was spelled, in NFC; the key is folded. */
  readonly path: string;
  readonly seq: number;
  readonly deleted: boolean;
  /** Lower-case hex; of a tombstone: of what was deleted. */
  readonly sha256: string;
  readonly git_sha: string;
  /** As it is compared and shown: the client's own string, or the hub's when the hub made it. */
  readonly hlc: string;
  /** Bytes of the content; of a tombstone 0. */
  readonly size_bytes: number;
  readonly stored_ms: number;
  readonly device_id: string;
  /** As the client gave it. */
  readonly mtime: string | null;
  /** May be run as a program (the owner's execute bit); false of a tombstone and where no client said. */
  readonly executable: boolean;
  /** Bytes of the line, its newline too. */
  readonly line_bytes: number;
  /** Versions of this path that are kept, this one too. */
  readonly versions: number;
}
