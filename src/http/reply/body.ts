/** The types of a reply's body: whole pieces, or bytes read while they are sent. */

/** Bytes that are read while they are sent. `read` may return a view that is gone with the next read. */
export interface ByteSource {
  readonly bytesTotal: number;
  /** The bytes from `offset` on, as many as are at hand; never empty before the end. */
  read(offset: number): Uint8Array;
  /** Called once when nobody reads any more: all was sent, or the client has gone. */
  readonly close?: () => void;
}

/** A text in pieces that are sent one after another; bytes are UTF-8. Pieces that are bytes already are not encoded again. */
export type Parts = readonly (string | Uint8Array)[];
