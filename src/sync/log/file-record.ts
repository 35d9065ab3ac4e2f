/** Defines the row of a path: its newest version, or its tombstone. */

/** The newest version of a path; a deleted path keeps its row as a tombstone. */
export interface FileRecord {
  /** As spelled by the client, in NFC; the key is folded. */
  readonly path: string;
  readonly seq: number;
  readonly deleted: boolean;
  /** Lower-case hex. For a tombstone: of the deleted content. */
  readonly sha256: string;
  readonly git_sha: string;
  /** As compared and shown: the client's own string, or the hub's when the hub made it. */
  readonly hlc: string;
  /** Bytes of the content; 0 for a tombstone. */
  readonly size_bytes: number;
  readonly stored_ms: number;
  readonly device_id: string;
  /** As sent by the client. */
  readonly mtime: string | null;
  /** May be run as a program (the owner's execute bit). False for a tombstone, and when no client reported it. */
  readonly executable: boolean;
  /** Bytes of the line, including its newline. */
  readonly line_bytes: number;
  /** Number of kept versions of this path, including this one. */
  readonly versions: number;
}

/** Returns the file at a path; undefined for a tombstone and for a path without versions. */
export function liveFile(newest: FileRecord | undefined): FileRecord | undefined {
  return newest?.deleted === false ? newest : undefined;
}
