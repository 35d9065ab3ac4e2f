/**
 * Owns long reads in turns: a walk that fits into its turn is read at once; one that does not begins anew over a snapshot, so
 * that its answer is of one moment however many turns it takes. A caller has one such snapshot at a time.
 */
import { Refusal } from '../common/fault.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import type { Store } from './store.ts';
import type { Walkable } from './table.ts';

/** A read that says after each step that it could rest. It must be able to begin anew. */
export type Steps<T> = (reader: Walkable) => Generator<void, T>;

/** The long reads of each caller, one after another. */
const running = new Map<string, Promise<unknown>>();
let snapshots = 0;

/**
 * What a read comes to; a promise when it takes more than one turn. `caller`: the account, or the address. Throws or rejects
 * with what the read threw, and with Refusal `overloaded` when too many callers read at length.
 */
export function readInTurns<T>(store: Store, caller: string, steps: Steps<T>): T | Promise<T> {
  if (turns.isOver) return readLater(store, caller, steps);
  const made = tryNow(store, steps);
  return made === undefined ? readLong(store, caller, steps) : made.value;
}

async function readLater<T>(store: Store, caller: string, steps: Steps<T>): Promise<T> {
  await turns.next(caller);
  const made = tryNow(store, steps);
  return made === undefined ? await readLong(store, caller, steps) : made.value;
}

/** Undefined: the turn was over before the read was. */
function tryNow<T>(store: Store, steps: Steps<T>): { readonly value: T } | undefined {
  const walk = steps(store);
  try {
    for (;;) {
      const { done, value } = walk.next();
      if (done === true) return { value };
      if (turns.isOver) return undefined;
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
