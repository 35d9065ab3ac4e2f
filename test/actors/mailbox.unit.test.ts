/** A mailbox: decisions in their order, a bound, and rest once everything taken is settled. */
import { afterEach, expect, test } from 'vitest';
import { Actor } from '../../src/actors/mailbox.ts';
import { Refusal } from '../../src/common/fault.ts';
import { Shares } from '../../src/common/shares.ts';
import { recordCodec } from '../../src/store/codec.ts';
import type { Batch } from '../../src/store/group-commit.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DEPTH_MAX = 4;
const rows = defineTable<[string], { readonly order: readonly number[] }>('rows', recordCodec(1), { account: 0 });

let store: Store;
afterEach(() => store.close());

function openActor(): Actor {
  store = new Store({ folder: temporaryFolder(), tables: [rows] });
  return new Actor({ kind: 'account', id: 'a' }, store, shares(), DEPTH_MAX);
}

function shares(max = 1000): Shares {
  return new Shares({ max, what: 'too many writes are waiting', retryAfterSeconds: 1 });
}

function append(number: number): (batch: Batch) => number {
  return (batch) => {
    const order = batch.get(rows, ['a'])?.order ?? [];
    batch.put(rows, ['a'], { order: [...order, number] });
    return order.length;
  };
}

test('[OPS-18] a full mailbox refuses, loses nothing that it took, and takes again when there is room', async () => {
  const actor = openActor();
  const asked = Array.from({ length: DEPTH_MAX + 2 }, (_, number) => actor.ask(append(number)));
  expect([actor.depth, actor.idleSinceMs]).toEqual([DEPTH_MAX, undefined]);
  const settled = await Promise.allSettled(asked);
  const faults = settled.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Refusal).fault] : []));
  expect(faults).toMatchObject(Array(2).fill({ kind: 'overloaded' }));
  expect(settled.slice(0, DEPTH_MAX).every(({ status }) => status === 'fulfilled')).toBe(true);
  expect(await actor.ask(append(9))).toBe(DEPTH_MAX);
  expect(store.get(rows, ['a'])).toEqual({ order: [0, 1, 2, 3, 9] });
});

test('[OPS-3] draining waits for everything that was taken, also for what fails', async () => {
  const actor = openActor();
  await actor.drain();
  let settled = 0;
  const failing = actor.ask(() => {
    throw new Refusal({ kind: 'storage_full' });
  });
  const all = [actor.ask(append(1)), failing, actor.ask(append(2))].map((asked) =>
    asked.then(
      () => (settled += 1),
      () => (settled += 1),
    ),
  );
  await actor.drain();
  await Promise.all(all);
  expect([settled, actor.depth]).toEqual([3, 0]);
  expect(actor.idleSinceMs).toBeDefined();
  expect(store.get(rows, ['a'])).toEqual({ order: [1, 2] });
});

test('[NET-11] an account that fills its mailboxes leaves room for others, and for the writes of the service', async () => {
  store = new Store({ folder: temporaryFolder(), tables: [rows] });
  const waiting = shares(64);
  const vaults = ['v1', 'v2', 'v3'].map((id) => new Actor({ kind: 'vault', id }, store, waiting));
  const greedy = vaults.flatMap((vault) =>
    Array.from({ length: 30 }, () => vault.ask(() => undefined, { accountId: 'a' })),
  );
  const refused = Promise.allSettled(greedy);
  const others = ['b', 'c'].map((id) => new Actor({ kind: 'account', id }, store, waiting).ask(() => id));
  const own = new Actor({ kind: 'directory', id: '' }, store, waiting).ask(() => 'own');
  expect(await Promise.all([...others, own])).toEqual(['b', 'c', 'own']);
  const held = (await refused).filter(({ status }) => status === 'fulfilled').length;
  expect(held).toBe(48);
  expect(waiting.state).toMatchObject({ used: 0, refused: 90 - 48 });
  expect(await vaults[0]?.ask(() => 'again', { accountId: 'a' })).toBe('again');
});
