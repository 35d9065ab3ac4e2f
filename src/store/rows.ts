/** Rows as the data file holds them, outside of any table's types. */

/** A value that is kept beside the log, under a name that is never used again. */
export interface RowPart {
  readonly name: string;
  /** In hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * One row that a commit writes: the stored bytes of its key, and its value, checksum included, or the part that holds
 * the value. With neither the row is removed. Of two writes of one key in a record the later one counts.
 */
export interface LoggedRow {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value?: Uint8Array | undefined;
  readonly part?: RowPart | undefined;
}
