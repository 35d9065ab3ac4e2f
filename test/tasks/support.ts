/** Opens the tasks of a store of their own, under a clock that the test moves. */

import { ActorRegistry } from '../../src/actors/registry.ts';
import { Refusal } from '../../src/common/fault.ts';
import { allTables } from '../../src/compose/tables.ts';
import { Store } from '../../src/store/store.ts';
import type { TaskRecord } from '../../src/tasks/declared.ts';
import { newTask, taskChange } from '../../src/tasks/fields.ts';
import { Tasks } from '../../src/tasks/service.ts';
import { unbounded } from '../support/quotas.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const START_MS = Date.parse('2026-11-20T12:00:00.000Z');

interface Clock {
  ms: number;
}

export interface Desk {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly clock: Clock;
  close(): Promise<void>;
}

/** Opens a store of its own, or one that another desk closes. */
export function openDesk(given?: Store): Desk {
  const store = given ?? new Store({ folder: temporaryFolder(), tables: allTables });
  const actors = new ActorRegistry(store);
  const clock: Clock = { ms: START_MS };
  const tasks = new Tasks({ store, actors, quotas: unbounded, now: () => clock.ms });
  return {
    store,
    clock,
    tasks,
    async close() {
      await tasks.close();
      await actors.drain();
      await store.close();
    },
  };
}

/** Creates a task as every door does: from a document, which may be wrong. */
export function createFrom(tasks: Tasks, accountId: string, document: unknown): Promise<TaskRecord> {
  return tasks.create(accountId, tasks.read(accountId, newTask, document));
}

/** As `createFrom`, for a change. */
export function patchFrom(tasks: Tasks, accountId: string, id: number, document: unknown): Promise<TaskRecord> {
  return tasks.patch(accountId, id, tasks.read(accountId, taskChange, document));
}

/** The fault that something is refused with; throws when it is not refused. */
export async function faultOf(run: () => unknown) {
  try {
    await run();
  } catch (error) {
    if (error instanceof Refusal) return error.fault;
    throw error;
  }
  throw new Error('it was not refused');
}

/** The fields that something is refused for. */
export async function refusedFields(run: () => unknown): Promise<Record<string, readonly string[]>> {
  const fault = await faultOf(run);
  if (fault.kind !== 'invalid_fields') throw new Error(`it was refused with ${fault.kind}`);
  return fault.fields;
}
