/**
 * What must not be lost in a storm: each byte string that a user wrote, and did not take away again before it had stood
 * still for a while under a running watch.
 */
import { createHash } from 'node:crypto';

/** What ignore files of a storm may leave out for a while: nobody looks at it then. */
const MAYBE_IGNORED = /(^|\/)tmp\/|\.bin/;

interface Standing {
  readonly sha256: string;
  readonly sinceMs: number;
}

export class Ledger {
  readonly #stillMs: number;
  /** Where each string stands, by folder and path. */
  readonly #standing = new Map<string, Map<string, Standing>>();
  readonly #kept = new Map<string, string>();

  constructor(stillMs: number) {
    this.#stillMs = stillMs;
  }

  wrote(folder: string, path: string, bytes: Buffer): void {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.#of(folder).set(path, { sha256, sinceMs: Date.now() });
  }

  /** The user takes away what stands at a path or below it. It counts when it stood long enough where it could be seen. */
  left(folder: string, path: string, isServed: boolean): void {
    const standing = this.#of(folder);
    for (const [at, { sha256, sinceMs }] of standing) {
      if (at !== path && !at.startsWith(`${path}/`)) continue;
      const stoodMs = Date.now() - sinceMs;
      if (isServed && !MAYBE_IGNORED.test(at) && stoodMs >= this.#stillMs) {
        this.#kept.set(sha256, `${folder} ${at}, which stood ${stoodMs} ms until its user took it away`);
      }
      standing.delete(at);
    }
  }

  /** The user moves it; its time goes on. */
  moved(folder: string, from: string, to: string): void {
    const standing = this.#of(folder);
    for (const [at, one] of Array.from(standing)) {
      if (at !== from && !at.startsWith(`${from}/`)) continue;
      standing.delete(at);
      standing.set(`${to}${at.slice(from.length)}`, one);
    }
  }

  /** While nothing runs for a folder, what stands in it is not seen: its time begins when that is over. */
  restart(folder: string, graceMs = 0): void {
    const sinceMs = Date.now() + graceMs;
    for (const [at, one] of this.#of(folder)) this.#of(folder).set(at, { ...one, sinceMs });
  }

  /** Every string that must be found, with where it was written last. What no user took away counts whenever it came. */
  get owed(): ReadonlyMap<string, string> {
    const owed = new Map(this.#kept);
    for (const [folder, standing] of this.#standing) {
      for (const [path, { sha256 }] of standing) owed.set(sha256, `${folder} ${path}, which no user took away`);
    }
    return owed;
  }

  #of(folder: string): Map<string, Standing> {
    const known = this.#standing.get(folder) ?? new Map<string, Standing>();
    this.#standing.set(folder, known);
    return known;
  }
}
