/**
 * Splits long reads into turns. A read that fits into one turn runs at once. A longer one restarts on a snapshot, so
 * its result is consistent however many turns it takes. Each caller has at most one such snapshot at a time.
 */
import { Refusal } from '../common/fault.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import type { Store } from './store.ts';
import type { Walkable } from './table.ts';

/** A read that yields after each step, where it may pause. It must be restartable. */
export type Steps<T> = (reader: Walkable) => Generator<void, T>;

/** Longest time in milliseconds that a read may outlast its turn: starting again costs more than a short read does. */
const OUTLAST_MS = 0.25;

/** The last long read of each caller; the next one waits for it. */
const running = new Map<string, Promise<unknown>>();
let snapshots = 0;

/**
 * Returns the result of a read, or a promise of it when it takes more than one turn. `caller`: the account, or the
 * address. `cheapSteps`: so many steps fit into a turn on any machine, so they are not made again when it had no core for
 * them meanwhile. Throws or rejects with the read's error, and with Refusal `overloaded` when too many long reads are running.
 */
export function readInTurns<T>(store: Store, caller: string, steps: Steps<T>, cheapSteps = 0): T | Promise<T> {
  if (turns.isOver) return readLater(store, caller, steps, cheapSteps);
  const made = tryNow(store, steps, cheapSteps);
  return made === undefined ? readLong(store, caller, steps) : made.value;
}

async function readLater<T>(store: Store, caller: string, steps: Steps<T>, cheapSteps: number): Promise<T> {
  await turns.next(caller);
  const made = tryNow(store, steps, cheapSteps);
  return made === undefined ? await readLong(store, caller, steps) : made.value;
}

/** Returns undefined when the turn, and the time that a short read needs, ended before the read did. */
function tryNow<T>(store: Store, steps: Steps<T>, cheapSteps: number): { readonly value: T } | undefined {
  const isShortUntilMs = performance.now() + OUTLAST_MS;
  const walk = steps(store);
  try {
    for (let taken = 1; ; taken += 1) {
      const { done, value } = walk.next();
      if (done === true) return { value };
      if (taken > cheapSteps && turns.isOver && performance.now() >= isShortUntilMs) return undefined;
    }
  } finally {
    walk.return(undefined as T);
  }
}

function readLong<T>(store: Store, caller: string, steps: Steps<T>): Promise<T> {
  const before = running.get(caller) ?? Promise.resolve();
  const read = before.then(() => readSnapshot(store, caller, steps));
  const settled = read.then(
    () => undefined,
    () => undefined,
  );
  running.set(caller, settled);
  void settled.then(() => {
    if (running.get(caller) === settled) running.delete(caller);
  });
  return read;
}

async function readSnapshot<T>(store: Store, caller: string, steps: Steps<T>): Promise<T> {
  await turns.next(caller);
  if (snapshots >= limits.longReadsMax) {
    const what = 'too many long searches are running';
    throw new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.retryAfterSeconds });
  }
  snapshots += 1;
  const snapshot = store.snapshot();
  const walk = steps(snapshot);
  try {
    for (;;) {
      const { done, value } = walk.next();
      if (done === true) return value;
      if (turns.isOver) await turns.next(caller);
    }
  } finally {
    walk.return(undefined as T);
    snapshot.close();
    snapshots -= 1;
  }
}
