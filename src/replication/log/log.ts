/**
 * The contract of every engine that keeps the log of a hub: numbered records, each created once. Create-once gives order,
 * durability and fencing: whoever finds a position taken no longer owns the hub.
 */

export interface LogRecord {
  readonly position: number;
  readonly bytes: Uint8Array;
}

export type Created = 'written' | 'taken';

export interface CommitLog {
  /**
   * Creates the record of a position. `written`: these bytes are durable there, also when an earlier attempt wrote them.
   * `taken`: another record is there. Rejects only with OutcomeUnknown: call again with the same bytes until it resolves.
   * @param signedAtMs when the caller last knew that it may write, in milliseconds since 1970: an engine that can refuses
   * a request that arrives more than 15 minutes later
   */
  append(position: number, record: Uint8Array, signedAtMs?: number): Promise<Created>;
  /** The records from a position to the newest, in order without gaps. Throws LogGap when `from` was removed. */
  read(from: number): AsyncIterable<LogRecord>;
  /** The oldest and the newest position; undefined: the log is empty. */
  ends(): Promise<{ readonly first: number; readonly last: number } | undefined>;
  /** Stores bytes under a new name. Overwrites nothing: throws when the name has other bytes. */
  putPart(name: string, bytes: Uint8Array): Promise<void>;
  /** Throws PartMissing. */
  getPart(name: string): Promise<Uint8Array>;
  /** The names that begin with `prefix`, in order. */
  listParts(prefix: string): Promise<string[]>;
  removePart(name: string): Promise<void>;
  /** Removes the records before a position, never the newest. `snapshots/trim.ts` says which positions are safe. */
  removeBefore(position: number): Promise<void>;
  close(): Promise<void>;
}

/** The engine did not say whether it wrote. Only asking again tells. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** A position that should be in the log is not. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
  readonly position: number;

  constructor(position: number, found: number) {
    super(
      `the log has record ${found} and not record ${position}: it was removed because it is old, or the store has lost it`,
    );
    this.position = position;
  }
}

export class PartMissing extends Error {
  override readonly name = 'PartMissing';

  constructor(part: string) {
    super(`the log has no part ${part}: it was removed, or the store has lost it`);
  }
}

/** A name that other bytes have. */
export class PartTaken extends Error {
  override readonly name = 'PartTaken';

  constructor(part: string) {
    super(`the log has other bytes under the name ${part}`);
  }
}

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
