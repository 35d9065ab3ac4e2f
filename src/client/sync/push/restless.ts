/**
 * Spaces out the sends of large files to which programs keep writing, since each send repeats the whole file. A file that
 * stands still is sent at once: that state may be a version that a person wants back.
 */
import { limits } from '../../../limits/service.ts';
import type { Seen } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';

interface Sends {
  /** Consecutive sends, each soon after the previous one. */
  readonly count: number;
  readonly lastMs: number;
}

export class Restless {
  readonly #sends = new Map<string, Sends>();
  /** When each file that waits is sent at the latest (milliseconds since 1970). */
  readonly #due = new Map<FolderPath, number>();

  /** Call before each plan of a push: decides again which files wait. */
  begin(): void {
    this.#due.clear();
  }

  /** Records that a file was sent. */
  sent(path: FolderPath, bytes: number, nowMs = Date.now()): void {
    if (bytes < limits.clientRestlessBytes) this.#sends.delete(path);
    else this.#sends.set(path, { count: this.#isInRow(path, nowMs) ? this.#countOf(path) + 1 : 1, lastMs: nowMs });
  }

  /** True when a changed file waits: it was sent a short time ago and does not stand still. */
  waits(path: FolderPath, { bytes, changedMs }: Seen, nowMs = Date.now()): boolean {
    const last = this.#sends.get(path);
    if (last === undefined || bytes < limits.clientRestlessBytes) return false;
    const dueMs = Math.min(changedMs + limits.clientRestMs, last.lastMs + this.#pauseMs(path));
    if (dueMs <= nowMs) return false;
    this.#due.set(path, dueMs);
    return true;
  }

  /** True when a file was sent several times in a row. */
  isRestless(path: string, nowMs = Date.now()): boolean {
    return this.#countOf(path) > 1 && this.#isInRow(path, nowMs);
  }

  /** Milliseconds until the next file is due; infinite when none waits. */
  dueInMs(nowMs = Date.now()): number {
    return Math.max(0, Math.min(...this.#due.values()) - nowMs);
  }

  #countOf(path: string): number {
    return this.#sends.get(path)?.count ?? 0;
  }

  #pauseMs(path: string): number {
    const pauseMs = limits.clientRetryMs * 2 ** (this.#countOf(path) - 1);
    return Math.min(pauseMs, limits.clientRetryMsMax);
  }

  /** True while the last send is no longer ago than two pauses. */
  #isInRow(path: string, nowMs: number): boolean {
    const last = this.#sends.get(path);
    return last !== undefined && nowMs - last.lastMs < 2 * this.#pauseMs(path);
  }
}
