/** Keeps what is still to be compared with the hub: a process that ends early leaves it to the next one. */
import type { Wait } from '../base/state.ts';
import type { FolderPath } from '../folder/path.ts';
import type { SyncStep } from '../round.ts';

/** What a path waits for that is due. */
const COMPARED: Wait = {
  kind: 'hub',
  remote: null,
  local: null,
  conflictId: null,
  reason: 'It is compared with the hub by the next sync.',
};

/**
 * Has a path compared with the hub in this turn, because its base or the cursor tells nothing of it any more. It is kept in the
 * state too: a process that ends before that leaves it to the next one.
 */
export function compareNow({ state, next }: SyncStep, path: FolderPath): void {
  next.recheck.add(path);
  keepToCompare(state, path);
}

/** The same in the next turn or sync, once no upload of the path is under way. */
export function compareNext({ state, next }: SyncStep, path: FolderPath): void {
  next.due.add(path);
  keepToCompare(state, path);
}

/** Alone in the state. What waits of the path for another reason, and is compared anyway, stays as it is. */
export function keepToCompare(state: SyncStep['state'], path: FolderPath): void {
  const kind = state.waits.get(path)?.kind;
  if (kind === undefined || kind === 'push') state.wait(path, COMPARED);
}
