/**
 * What must not be lost in a storm: each byte string that a user wrote, and did not take away again before it had stood
 * still for a while under a running watch.
 */
import { createHash } from 'node:crypto';

/** What ignore files of a storm may leave out for a while, in any case of letters: nobody looks at it then. */
const MAYBE_IGNORED = /(^|\/)tmp\/|\.bin/i;

interface Standing {
  readonly path: string;
  /** When it began to stand where a watch can see it (milliseconds since 1970); infinite: it cannot be read. */
  readonly sinceMs: number;
}

/** A file as it is on the disk: a watch may have given it another name than its user did. */
export interface SeenFile {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  /** When it got its name or its bytes, by the disk. */
  readonly changedMs: number;
}

/** Where a string stood that is owed, and for how long. */
export interface Owed {
  readonly folder: string;
  readonly path: string;
  readonly what: string;
  /** When its user took it away (milliseconds since 1970); undefined: never. */
  readonly takenMs?: number;
}

export class Ledger {
  readonly #stillMs: number;
  /** Which strings stand, by folder and hash. */
  readonly #standing = new Map<string, Map<string, Standing>>();
  readonly #kept = new Map<string, Owed>();
  /** Strings that were written to files which a watch had replaced or removed, by hash. */
  readonly #late = new Map<string, Owed>();

  constructor(stillMs: number) {
    this.#stillMs = stillMs;
  }

  wrote(folder: string, path: string, bytes: Uint8Array): void {
    this.#of(folder).set(hashOf(bytes), { path, sinceMs: Date.now() });
  }

  /** The user takes files away. What is in them counts when it stood long enough where it could be seen. */
  left(folder: string, files: readonly SeenFile[], isServed: boolean): void {
    for (const file of files) {
      this.#keep(folder, file, isServed);
      this.#leaveCopy(folder, file, isServed);
      this.#of(folder).delete(file.sha256);
    }
  }

  /** The user moves files; their time begins anew, because what is on its way does not stand still. */
  moved(folder: string, files: readonly SeenFile[], isServed: boolean): void {
    for (const file of files) {
      this.#keep(folder, file, isServed);
      const one = this.#of(folder).get(file.sha256);
      if (one === undefined) continue;
      const sinceMs = Number.isFinite(one.sinceMs) ? Date.now() : one.sinceMs;
      this.#of(folder).set(file.sha256, { path: file.path, sinceMs });
    }
  }

  /** The user takes the right to read a file away from everybody: no watch sees it until that is over. */
  hidden(folder: string, files: readonly SeenFile[], isServed: boolean): void {
    for (const file of files) {
      this.#keep(folder, file, isServed);
      if (!this.#of(folder).has(file.sha256)) continue;
      this.#of(folder).set(file.sha256, { path: file.path, sinceMs: Number.POSITIVE_INFINITY });
    }
  }

  /** A program wrote these bytes to a file that is no longer in its place. */
  late(folder: string, path: string, bytes: Uint8Array): void {
    this.#late.set(hashOf(bytes), { folder, path, what: 'written to a file that was replaced' });
  }

  /** While nothing runs for a folder, what stands in it is not seen: its time begins when that is over. */
  restart(folder: string, graceMs = 0): void {
    const fromMs = Date.now() + graceMs;
    for (const [sha256, one] of this.#of(folder)) {
      this.#of(folder).set(sha256, { ...one, sinceMs: Math.max(one.sinceMs, fromMs) });
    }
  }

  /** Every string that must be found, with where it was written last. What no user took away counts whenever it came. */
  get owed(): ReadonlyMap<string, Owed> {
    const owed = new Map([...this.#kept, ...this.#late]);
    for (const [folder, standing] of this.#standing) {
      for (const [sha256, { path }] of standing) owed.set(sha256, { folder, path, what: 'no user took it away' });
    }
    return owed;
  }

  #keep(folder: string, { path, sha256, size }: SeenFile, isServed: boolean): void {
    const standing = this.#of(folder).get(sha256);
    if (standing === undefined) return;
    const takenMs = Date.now();
    const stoodMs = takenMs - standing.sinceMs;
    if (!isServed || MAYBE_IGNORED.test(path) || stoodMs < this.#stillMs) return;
    const what = `${size} bytes, written at ${standing.path}, stood ${stoodMs} ms until its user took it away`;
    this.#kept.set(sha256, { folder, path, what, takenMs });
  }

  /**
   * What was written late is owed whatever its age, until it stands in the folder as a conflict copy: that is what was
   * promised (SYN-25). The copy is a file like any other, which its user may remove before it has stood still, for example
   * with the folder around it. It stands since it got its name, which the disk notes as its change time.
   */
  #leaveCopy(folder: string, file: SeenFile, isServed: boolean): void {
    if (!this.#late.delete(file.sha256)) return;
    this.#of(folder).set(file.sha256, { path: file.path, sinceMs: file.changedMs });
    this.#keep(folder, file, isServed);
  }

  #of(folder: string): Map<string, Standing> {
    const known = this.#standing.get(folder) ?? new Map<string, Standing>();
    this.#standing.set(folder, known);
    return known;
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
