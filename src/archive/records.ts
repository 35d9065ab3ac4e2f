/**
 * Imports the records of a section one after another: validates each record and passes it to its writer. Many writes
 * run at a time, in their order. An error contains the line number of its record.
 */
import { z } from 'zod';
import type { ActorRegistry } from '../actors/registry.ts';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import { type ArchiveSection, DAMAGED, fileOf, readRecord } from './format.ts';
import type { ArchiveReader } from './reader.ts';

/** Destination of an import: an account that nobody can access yet. */
export interface ImportTarget {
  readonly archive: ArchiveReader;
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly accountId: string;
  /** Latest time allowed in the archive, in milliseconds since 1970. */
  readonly latestMs: number;
}

/** Accepts a write without waiting for it. Waits only when too many writes are in flight. */
export type Await = (write: Promise<unknown>) => Promise<void>;

/**
 * Imports a section. `take` writes one record: it passes the promises of its writes to `wait`, so that the next record
 * need not wait for the disk. Resolves when everything is on disk.
 */
export async function importSection<T>(
  { archive, store }: ImportTarget,
  section: ArchiveSection,
  schema: z.ZodType<T>,
  take: (record: T, wait: Await) => Promise<void> | void,
): Promise<void> {
  const window = new Window(store);
  try {
    for await (const { number, bytes, document } of archive.lines(section)) {
      const place = `${fileOf(section)} line ${number}`;
      try {
        await take(readRecord(schema, document), (write) => window.add(place, bytes, write));
      } catch (error) {
        throw placed(error, place);
      }
    }
  } finally {
    await window.settle();
  }
  window.check();
}

/**
 * Takes what is left of a record once all its members were named: a member that an export or an import would lose does
 * not compile.
 */
export function nothingElse(_rest: Readonly<Record<string, never>>): void {}

/** Writes in flight. */
class Window {
  readonly #store: Pick<Store, 'diskFreeBytes'>;
  #waiting: Promise<void>[] = [];
  #bytes = 0;
  #failure: Error | undefined;

  constructor(store: Pick<Store, 'diskFreeBytes'>) {
    this.#store = store;
  }

  async add(place: string, bytes: number, write: Promise<unknown>): Promise<void> {
    this.#waiting.push(
      write.then(
        () => undefined,
        (error: Error) => {
          this.#failure ??= placed(error, place);
        },
      ),
    );
    this.#bytes += bytes;
    if (this.#waiting.length >= limits.archiveWritesMax || this.#bytes >= limits.archiveWriteBytesMax) {
      await this.settle();
      this.check();
      // The last free space of a disk is reserved for other writes.
      if (this.#store.diskFreeBytes() < limits.diskFreeBytesMin) throw new Refusal({ kind: 'storage_full' });
    }
  }

  /** Resolves when no write is in flight. */
  async settle(): Promise<void> {
    const waiting = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    await Promise.all(waiting);
  }

  /** Throws the first error of a write. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Error of a record, including its place. */
class WrongRecord extends Refusal {}

/** Adds the place to an error, once. Errors not caused by the record (a full disk) are returned unchanged. */
function placed(error: unknown, place: string): Error {
  if (!(error instanceof Refusal) || error instanceof WrongRecord || error.fault.kind !== 'invalid_fields') {
    return error as Error;
  }
  const sentence = error.message.startsWith(DAMAGED) ? error.message.slice(DAMAGED.length) : error.message;
  return new WrongRecord({ kind: 'invalid_fields', fields: { archive: [`${DAMAGED}${place}: ${sentence}`] } });
}

/** Well-formed text of a bounded length. */
export const text = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

/** Who changed a record. Absent when unknown, and in archives of earlier versions. */
export const changedByName = text(limits.changedByCharsMax).optional();

export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters');
export const gitShaHex = z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hex characters');

/** A count or an id, small enough to continue counting from it. */
export const whole = z.int().nonnegative().max(limits.archiveNumberMax);
export const id = whole.min(1);

/** A moment in the format that the hub writes. */
export const instantUpTo = (latestMs: number) =>
  z
    .string()
    .max(limits.instantCharsMax)
    .refine((value) => {
      const ms = Date.parse(value);
      return ms >= 0 && new Date(ms).toISOString() === value;
    }, 'must be a moment such as 2026-11-21T03:30:00.000Z')
    .refine(
      (value) => Date.parse(value) <= latestMs,
      'is ahead of the clock of this hub; correct the clock, then import again',
    );

export type Instant = ReturnType<typeof instantUpTo>;
