/** The order of decisions in group commits: an actor's own is kept, and actors take turns. */
import { expect, test } from 'vitest';
import { recordCodec } from '../../src/store/codec.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const table = defineTable<[string, number], { readonly at: number }>('rows', recordCodec(1), { account: 0 });

test('[NET-11, NET-12] a write of one actor does not wait for all that another one queued, and each keeps its order', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: [table] });
  const done: string[] = [];
  const decided: number[] = [];
  const write = (actor: string, at: number) =>
    store
      .write({ kind: 'account', id: actor }, (batch) => {
        if (actor === 'greedy') decided.push(at);
        // As a dear decision is.
        const endMs = performance.now() + 0.1;
        while (performance.now() < endMs);
        batch.put(table, [actor, at], { at });
      })
      .then(() => done.push(actor));
  const greedy = Array.from({ length: 600 }, (_, at) => write('greedy', at));
  await write('small', 0);
  expect(done.filter((actor) => actor === 'greedy').length).toBeLessThan(600);
  await Promise.all(greedy);
  expect(decided).toEqual(Array.from({ length: 600 }, (_, at) => at));
  expect(store.range(table, { prefix: [] })).toHaveLength(601);
  await store.close();
});
