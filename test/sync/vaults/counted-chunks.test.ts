/** Chunks of a data file of schema 10 counted their bytes alone. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { UPGRADE } from '../../../src/store/owners.ts';
import { vaultHeads } from '../../../src/sync/log/records.ts';
import { countedChunks } from '../../../src/sync/vaults/counted-chunks.ts';
import { chunksIn, MiB } from '../../support/large-files.ts';
import { sha256Of } from '../../support/sync.ts';
import { openSyncDesk } from '../support.ts';

const WHO = 'account';

test('[SYN-38, OPS-9] the upgrade to schema 11 counts 1 KiB more for each stored chunk, and nothing for other vaults', async () => {
  const desk = await openSyncDesk(Date.parse('2026-11-20T12:00:00.000Z'));
  const vaultId = await desk.sync.vaults.idOf(WHO, undefined);
  const otherId = await desk.sync.vaults.idOf('other account', undefined);
  await desk.sync.push.push('other account', desk.push('a.md', 'text'));
  const chunks = chunksIn(randomBytes(3 * MiB));
  for (const chunk of chunks) {
    await desk.sync.chunks.put({ accountId: WHO, vaultId }, sha256Of(chunk), Uint8Array.from(chunk));
  }
  const kept = () => [vaultId, otherId].map((id) => desk.store.get(vaultHeads, [id])?.kept_bytes);
  const now = kept();
  await desk.store.write(UPGRADE, (batch) => {
    const head = batch.get(vaultHeads, [vaultId]);
    if (head !== undefined) batch.put(vaultHeads, [vaultId], { ...head, kept_bytes: 3 * MiB });
  });
  expect(desk.problems()).not.toEqual([]);
  expect(await desk.store.write(UPGRADE, (batch) => countedChunks.piece(batch, undefined))).toBeUndefined();
  expect([kept(), now[0]]).toEqual([now, 3 * MiB + chunks.length * 1024]);
  expect(desk.problems()).toEqual([]);
  await desk.close();
});
