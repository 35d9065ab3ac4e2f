/** The order in which chunks of uploads reach the store. */
import { expect, test } from 'vitest';
import { openLog } from '../../../src/common/log.ts';
import { limits } from '../../../src/limits/service.ts';
import { chunks, mirrorTables, stagedUploads } from '../../../src/mirror/records.ts';
import { Staging } from '../../../src/mirror/upload/staging.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('[MIR-16] a small last chunk does not pass the first one of its upload, which waits: a crash would leave it for ever', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: mirrorTables });
  const staging = new Staging(store, openLog('silent').log);
  const full = new Uint8Array(limits.stagingBytesMax - 1000);
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
