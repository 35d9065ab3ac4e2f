/** The order in which chunks of uploads reach the store. */
import { expect, test } from 'vitest';
import { openLog } from '../../../src/common/log.ts';
import { limits } from '../../../src/limits/service.ts';
import { chunks, mirrorTables, stagedUploads } from '../../../src/mirror/records.ts';
import { Staging } from '../../../src/mirror/upload/staging.ts';
import { SWEEP } from '../../../src/store/owners.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('[MIR-16] a small last chunk does not pass the first one of its upload, which waits: a crash would leave it for ever', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const full = new Uint8Array(limits.stagingBytesMax);
  const before = staging.put(staging.claim(), 'acc', 0, full);
  const upload = staging.claim();
  const first = staging.put(upload, 'acc', 0, new Uint8Array(5000));
  const last = staging.put(upload, 'acc', 1, new Uint8Array(10)).then(() => ({
    row: store.get(stagedUploads, [upload]) !== undefined,
    first: store.view(chunks, [upload, 0]) !== undefined,
  }));
  expect(await last).toEqual({ row: true, first: true });
  await Promise.all([before, first]);
  await store.close();
});

test('[NET-11] while decisions are made, a commit carries one chunk of uploads: a decision does not wait for eight', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const count = limits.stagingBytesMax / limits.chunkBytes;
  let decided = 0;
  let isOver = false;
  const decide = () => store.write(SWEEP, () => (decided += 1));
  await decide();
  const deciding = (async () => {
    while (!isOver) await decide();
  })();
  const decidedBefore = await Promise.all(
    Array.from({ length: count }, async () => {
      await staging.put(staging.claim(), 'acc', 0, new Uint8Array(limits.chunkBytes));
      return decided;
    }),
  );
  isOver = true;
  await deciding;
  // Two chunks in a row may come without a decision between them, but no more.
  expect(new Set(decidedBefore).size).toBeGreaterThanOrEqual(count / 2);
  await store.close();
});

test('[NET-11] accounts take turns for the disk: one chunk of another account is not behind those of an account that came first', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const atOnce = limits.stagingBytesMax / limits.chunkBytes;
  const order: string[] = [];
  const put = async (account: string) => {
    await staging.put(staging.claim(), account, 0, new Uint8Array(limits.chunkBytes));
    order.push(account);
  };
  const eager = Array.from({ length: 4 * atOnce }, () => put('eager'));
  await Promise.all([...eager, put('calm')]);
  // It is in the second commit.
  expect(order.indexOf('calm')).toBeLessThan(2 * atOnce);
  await store.close();
});

test('[NET-15] chunks of uploads that go on arriving are in one commit, as soon as there are enough of them', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const upload = staging.claim();
  const count = limits.stagingBytesMax / limits.chunkBytes;
  const onDisk = () => [...store.keys(chunks, [upload])].length;
  const seen: Promise<number>[] = [];
  const gather = (index: number) => {
    const written = staging.gather(upload, 'acc', index, new Uint8Array(limits.chunkBytes));
    seen.push(written.then(onDisk));
  };
  for (let index = 0; index < count - 1; index += 1) gather(index);
  await store.writeBytes([{ table: chunks, key: [staging.claim(), 0], bytes: new Uint8Array(1) }]);
  expect(onDisk()).toBe(0);
  gather(count - 1);
  expect(await Promise.all(seen)).toEqual(Array(count).fill(count));
  await store.close();
});

test('[NET-15] a chunk does not wait for others when its upload has ended, nor beside decisions', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const ended = staging.gather(staging.claim(), 'acc', 0, new Uint8Array(5000));
  staging.hurry();
  await ended;
  await store.write(SWEEP, () => undefined);
  await staging.gather(staging.claim(), 'acc', 0, new Uint8Array(limits.chunkBytes));
  await store.close();
});

test('[NET-15] the decision that publishes an upload makes the next uploads no slower: others do', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const upload = staging.claim();
  await staging.put(upload, 'acc', 0, new Uint8Array(5000));
  await store.write(SWEEP, (batch) => {
    expect(staging.adopt(batch, upload)).toBe(true);
  });
  expect(store.bytesAtOnceMax).toBe(limits.stagingBytesMax);
  await store.write(SWEEP, () => undefined);
  expect(store.bytesAtOnceMax).toBe(limits.stagingBytesBesideWrites);
  await store.close();
});
