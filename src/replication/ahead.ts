/**
 * Reads a log before its rows are needed. A reader that fetches, then unpacks, then writes waits for the store, for the
 * processor and for its disk in turn; here all three work at the same time.
 */
import type { StoredRow } from '../store/logged/replica.ts';
import type { RowPart } from '../store/rows.ts';
import { type DecodedRecord, decodeRecord } from './frame.ts';
import type { LogRecord } from './log/log.ts';

/** Records that are unpacked before their turn. */
const RECORDS_AHEAD = 16;
/** Bytes of parts that are fetched before their turn, beside those of the record whose turn is next. */
const BYTES_AHEAD = 16 * 1024 * 1024;

/** A record whose large values are in memory. */
export interface OpenedRecord {
  readonly record: DecodedRecord;
  readonly rows: readonly StoredRow[];
  /** Size of the record in the log, without its parts. */
  readonly bytes: number;
}

/**
 * The records in their order, each with the values of its parts. What one of them fails with is thrown in its turn, after
 * those before it.
 */
export async function* openAhead(
  records: AsyncIterable<LogRecord>,
  partOf: (part: RowPart) => Promise<Uint8Array>,
): AsyncGenerator<OpenedRecord> {
  const room = new Room();
  const opening: Promise<OpenedRecord>[] = [];
  let before: Promise<unknown> = Promise.resolve();
  const begin = ({ bytes }: LogRecord): void => {
    const decoded = decodeRecord(bytes);
    // In order: a later record must not take the room that an earlier one waits for.
    const admitted = before.then(async () => room.take(partBytes(await decoded)));
    before = admitted.catch(() => undefined);
    const opened = admitted.then(async () => {
      const record = await decoded;
      return { record, rows: await rowsOf(record, partOf), bytes: bytes.length };
    });
    // A reader that stops early leaves some behind, and their failures are not reported.
    for (const left of [decoded, opened]) left.catch(() => undefined);
    opening.push(opened);
  };
  const next = async (): Promise<OpenedRecord> => {
    const opened = await (opening.shift() as Promise<OpenedRecord>);
    room.give(partBytes(opened.record));
    return opened;
  };
  let failure: { readonly error: unknown } | undefined;
  const notingFailure = noteFailure(records, (error) => {
    failure = { error };
  });
  for await (const record of notingFailure) {
    begin(record);
    if (opening.length >= RECORDS_AHEAD) yield await next();
  }
  while (opening.length > 0) yield await next();
  if (failure !== undefined) throw failure.error;
}

/** Ends where reading failed, and tells with what. */
async function* noteFailure<T>(all: AsyncIterable<T>, note: (error: unknown) => void): AsyncGenerator<T> {
  const reading = all[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await reading.next();
      if (step.done === true) return;
      yield step.value;
    }
  } catch (error) {
    note(error);
  } finally {
    await reading.return?.();
  }
}

const partBytes = ({ rows }: DecodedRecord): number => rows.reduce((sum, { part }) => sum + (part?.bytes ?? 0), 0);

async function rowsOf({ rows }: DecodedRecord, partOf: (part: RowPart) => Promise<Uint8Array>): Promise<StoredRow[]> {
  return await Promise.all(
    rows.map(async ({ table, key, value, part }) => ({
      table,
      key,
      value: part === undefined ? value : await partOf(part),
    })),
  );
}

/** Bounds the bytes that wait in memory. A record is always admitted when it is the only one. */
class Room {
  #taken = 0;
  #onChange: (() => void)[] = [];

  async take(bytes: number): Promise<void> {
    while (this.#taken > 0 && this.#taken + bytes > BYTES_AHEAD)
      await new Promise<void>((resolve) => this.#onChange.push(resolve));
    this.#taken += bytes;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
    for (const resolve of this.#onChange.splice(0)) resolve();
  }
}

/** One write at a time, beside the caller: it goes on while the write before is on its way to the disk. */
export class OneBehind {
  #under: Promise<void> = Promise.resolve();

  /** Begins a write after the one before. Throws what that one failed with, and then begins nothing. */
  async begin(write: () => Promise<void>): Promise<void> {
    await this.#under;
    this.#under = write();
    this.#under.catch(() => undefined);
  }

  /** Resolves when all writes have; throws what the last one failed with. */
  async end(): Promise<void> {
    await this.#under;
  }
}
