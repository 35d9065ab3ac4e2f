/** The look at a data file before LMDB opens it, over files that LMDB wrote. */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesCodec } from '../../src/store/codec.ts';
import { checkDataFile, findDamagedPages } from '../../src/store/data-file/check.ts';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('[OPS-9] whatever is written and removed, a healthy file is never taken for a damaged one', async () => {
  const pieces = defineTable<[number], Uint8Array>('pieces', bytesCodec, { hub: 'any' });
  const more = defineTable<[number], Uint8Array>('more', bytesCodec, { hub: 'any' });
  const run = fc.asyncProperty(
    fc.array(fc.record({ puts: fc.array(fc.nat(60_000), { maxLength: 12 }), keeps: fc.nat(6) }), { maxLength: 12 }),
    async (steps) => {
      const folder = temporaryFolder();
      const store = new Store({ folder, tables: [pieces, more] });
      for (const { puts, keeps } of steps) {
        await store.write(HUB, (batch): void => {
          for (const [key, bytes] of puts.entries()) batch.put(pieces, [key], Buffer.alloc(bytes));
        });
        await store.write(HUB, (batch): void => {
          for (const key of batch.keys(pieces)) if (key[0] > keeps) batch.remove(pieces, key);
          batch.put(more, [keeps], Buffer.alloc(10));
        });
        const path = join(folder, 'cairn.mdb');
        checkDataFile(path, 2 ** 40);
        expect(findDamagedPages(path)).toEqual([]);
      }
      await store.close();
    },
  );
  await fc.assert(run, { seed, numRuns: 10 });
});
