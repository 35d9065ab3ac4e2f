/**
 * Owns how the records of a section are read one after another: checked by a schema, given to what writes them, and written
 * many at a time but in their order. What is wrong with one is told with the number of its line.
 */
import { z } from 'zod';
import type { ActorRegistry } from '../actors/registry.ts';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import { type ArchiveSection, DAMAGED, fileOf, readRecord } from './format.ts';
import type { ArchiveReader } from './reader.ts';

/** Where an import writes: an account that nobody can reach yet. */
export interface ImportTarget {
  readonly archive: ArchiveReader;
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly accountId: string;
  /** No time in the archive may be later, in milliseconds. */
  readonly latestMs: number;
}

/** Hands a write on without waiting for it; waits when too much is under way. */
export type Await = (write: Promise<unknown>) => Promise<void>;

/**
 * Reads a section. `take` writes what a record says: it gives promises of writes to `wait`, so that the next record need
 * not wait for the disk. Resolves when everything is on disk.
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

/** Writes under way. */
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
      // The last of a disk is left to everybody else.
      if (this.#store.diskFreeBytes() < limits.diskFreeBytesMin) throw new Refusal({ kind: 'storage_full' });
    }
  }

  /** Resolves when none is under way any more. */
  async settle(): Promise<void> {
    const waiting = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    await Promise.all(waiting);
  }

  /** Throws what went wrong first. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** What is wrong with a record, with its place. */
class WrongRecord extends Refusal {}

/** Adds the place, once. Failures that are not the record's (a full disk) are told as they are. */
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

export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters');
export const gitShaHex = z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hex characters');

/** A number that counts something, or names it: small enough that the next ones can be counted as well. */
export const whole = z.int().nonnegative().max(limits.archiveNumberMax);
export const id = whole.min(1);

/** A moment as the hub writes it. */
export const instantUpTo = (latestMs: number) =>
  z
    .string()
    .max(limits.instantCharsMax)
    .refine((value) => {
      const ms = Date.parse(value);
      return ms >= 0 && new Date(ms).toISOString() === value;
    }, 'must be a moment such as 2026-11-21T03:30:00.000Z')
    .refine((value) => Date.parse(value) <= latestMs, 'lies ahead of this hub; set its clock, then import again');

export type Instant = ReturnType<typeof instantUpTo>;
