/** Brings what was written to the disk, so that a power failure cannot lose it. */
import { closeSync, fsync, open } from 'node:fs';

/** Many parallel flushes share one write of the disk's journal. So many files are open for it at once, twice at most. */
const AT_ONCE = 128;

export class Unsettled {
  /** Files and folders by path. */
  readonly #paths = new Set<string>();
  /** Files that are still open from writing, which costs less than opening them again. */
  #open: number[] = [];
  /** Flushes of open files that are under way. */
  #running: Promise<unknown> | undefined;

  add(absolute: string): void {
    this.#paths.add(absolute);
  }

  /** Takes a written file over, and closes it. `absolute`: where it is. */
  addOpen(descriptor: number, absolute: string): void {
    if (this.#open.length < AT_ONCE) this.#open.push(descriptor);
    else {
      closeSync(descriptor);
      this.#paths.add(absolute);
    }
    if (this.#open.length < AT_ONCE || this.#running !== undefined) return;
    this.#running = this.#flushOpen().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves once everything is on the disk. */
  async settle(): Promise<void> {
    const paths = [...this.#paths];
    this.#paths.clear();
    await Promise.all([this.#running, this.#flushOpen()]);
    for (let at = 0; at < paths.length; at += AT_ONCE) {
      await Promise.all(paths.slice(at, at + AT_ONCE).map(flushPath));
    }
  }

  async #flushOpen(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    await Promise.all(open.map(flushAndClose));
  }
}

/** Callbacks: a FileHandle is an object with events of its own, and a promise for each step costs more than the step. */
function flushAndClose(descriptor: number): Promise<void> {
  return new Promise((resolve) => {
    fsync(descriptor, () => {
      try {
        // Once flushed, it has nothing to wait for: another job of the thread pool would cost more.
        closeSync(descriptor);
      } catch {
        // A disk that fails here fails the next look at the file too.
      }
      resolve();
    });
  });
}

function flushPath(absolute: string): Promise<void> {
  return new Promise((resolve) => {
    open(absolute, 'r', (error, descriptor) => {
      // Removed or made inaccessible since, so there is nothing left to flush.
      if (error !== null) resolve();
      else void flushAndClose(descriptor).then(resolve);
    });
  });
}
