/** Which changes of an account are told after a position, and that those which are gone are not skipped silently. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noteChange } from '../../src/activity/note.ts';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { Refusal } from '../../src/common/fault.ts';
import { allTables } from '../../src/compose/tables.ts';
import { AccountEvents } from '../../src/events/account-events.ts';
import { limits } from '../../src/limits/service.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let store: Store;
let actors: ActorRegistry;
let events: AccountEvents;

beforeEach(() => {
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  actors = new ActorRegistry(store);
  events = new AccountEvents({
    store,
    epoch: 'one',
    hash: (text) => Buffer.from(text).toString('hex').padEnd(24, '0'),
  });
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

const note = (count: number) =>
  actors.account('a').ask((batch) => {
    for (let item = 1; item <= count; item += 1) {
      const one = { kind: 'tasks', item, act: 'created', name: `task ${item}`, before: {}, after: {} } as const;
      noteChange(batch, 'a', { ...one, by: undefined, atMs: item });
    }
  });

const refusalOf = (step: () => unknown) => {
  try {
    step();
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error.fault.kind : error;
  }
};

test('[EVENT-1] a position before changes that are no longer kept is refused, and a new reader begins after them', async () => {
  await note(5);
  const first = events.page('a', events.positionOf('a', undefined), { limit: 3 });
  expect([first.events.map(({ id }) => id), first.hasMore]).toEqual([['r.1', 'r.2', 'r.3'], true]);
  const cursor = events.cursorOf('a', first.position);
  for (let at = 0; at < limits.activityRowsMax; at += 1000) await note(1000);
  expect(refusalOf(() => events.page('a', events.positionOf('a', cursor), { limit: 3 }))).toBe('events_gone');
  const again = events.page('a', events.positionOf('a', undefined), { limit: 1 });
  expect(again.events.map(({ id }) => id)).toEqual(['r.6']);
  expect(events.page('a', events.positionOf('a', 'now'), { limit: 1 }).events).toEqual([]);
});

test('[EVENT-1] a page of other kinds ends after a bounded number of changes and goes on from there', async () => {
  for (let at = 0; at < 2 * limits.eventStepsMax; at += 1000) await note(1000);
  let position = events.positionOf('a', undefined);
  for (const hasMore of [true, false]) {
    const page = events.page('a', position, { limit: 10, kinds: ['file'] });
    expect([page.events, page.hasMore]).toEqual([[], hasMore]);
    position = page.position;
  }
});

test('[EVENT-1] a cursor of another epoch is outdated, one of another account is none', async () => {
  await note(1);
  const cursor = events.cursorOf('a', events.positionOf('a', 'now'));
  const hash = (text: string) => Buffer.from(text).toString('hex').padEnd(24, '0');
  const restored = new AccountEvents({ store, epoch: 'two', hash });
  expect(refusalOf(() => restored.positionOf('a', cursor))).toBe('events_gone');
  expect(refusalOf(() => events.positionOf('b', cursor))).toBe('invalid_fields');
});
