/**
 * Stores the manual order of tasks in a board column: placed tasks come first, all others follow by due date. A list
 * may contain tasks that have left the column; readers skip them.
 */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import type { KanbanStatus, TaskRecord } from './declared.ts';
import { liveTask } from './list/reads.ts';
import { taskPlaces } from './records.ts';

export interface PlacesOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
}

export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Returns the tasks of a column that were placed by hand, in order. */
  of(accountId: string, status: KanbanStatus): TaskRecord[] {
    return placedIn(this.#options.store, accountId, status);
  }

  /** Moves a task of a column before another, or to the end. `shown`: the column as displayed to the user. */
  async put(
    accountId: string,
    status: KanbanStatus,
    {
      id,
      before,
      shown,
    }: { readonly id: number; readonly before: number | undefined; readonly shown: readonly number[] },
  ): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      const placed = placedIn(batch, accountId, status).map((task) => task.id);
      const ids = placeBefore({ shown, placed }, id, before).slice(0, limits.boardPlacedMax);
      batch.put(taskPlaces, [accountId, status], { ids });
    });
  }
}

function placedIn(reader: Pick<Reader, 'get'>, accountId: string, status: KanbanStatus): TaskRecord[] {
  return (reader.get(taskPlaces, [accountId, status])?.ids ?? []).flatMap((id) => {
    const task = liveTask(reader, accountId, id);
    return task?.kanban_status === status ? [task] : [];
  });
}

/** Returns the ids to place for moving a task before another: all displayed above it, and those already placed. */
export function placeBefore(
  { shown, placed }: { readonly shown: readonly number[]; readonly placed: readonly number[] },
  id: number,
  before: number | undefined,
): number[] {
  const others = shown.filter((other) => other !== id);
  const found = before === undefined ? -1 : others.indexOf(before);
  const at = found < 0 ? others.length : found;
  const isPlaced = new Set(placed);
  const above = [...others.slice(0, at), id];
  const known = new Set([...above, ...others.slice(at)]);
  // Placed but not displayed: filtered out of the page, or on a later one.
  const unseen = placed.filter((other) => !known.has(other));
  return [...above, ...others.slice(at).filter((other) => isPlaced.has(other)), ...unseen];
}
