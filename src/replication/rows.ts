/** The rows that a commit writes, as values. */

/** One row of a write-set, as stored: the encoded key and value bytes that LMDB holds (row sum included); no value: removed. */
interface RowWrite {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value?: Uint8Array | undefined;
}

/** Bytes that are stored beside the log. */
export interface PartOf {
  readonly name: string;
  /** In hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** A row as the log has it: the bytes of a large value are a part. */
export interface LoggedRow extends RowWrite {
  readonly part?: PartOf | undefined;
}
