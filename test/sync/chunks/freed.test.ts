/** The chunks of large files are stored once a vault, and go with the last list that has them. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileChunks, pieces, vaultHeads } from '../../../src/sync/log/records.ts';
import { chunksIn, listOf, MiB } from '../../support/large-files.ts';
import { sha256Of } from '../../support/sync.ts';
import { openSyncDesk, type SyncDesk } from '../support.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-20T12:00:00.000Z');
const WHO = 'account';
const MIB = 11;
let desk: SyncDesk;
let vaultId: string;

beforeEach(async () => {
  desk = await openSyncDesk(START_MS);
  vaultId = await desk.sync.vaults.idOf(WHO, undefined);
});
afterEach(() => desk.close());

async function send(bytes: Buffer): Promise<void> {
  for (const chunk of chunksIn(bytes)) {
    await desk.sync.chunks.put({ accountId: WHO, vaultId }, sha256Of(chunk), Uint8Array.from(chunk));
  }
}

async function push(path: string, bytes: Buffer, more = {}) {
  await send(bytes);
  desk.clock.ms += 1000;
  const list = listOf(chunksIn(bytes));
  return await desk.sync.push.push(
    WHO,
    desk.push(path, list, { sha256: sha256Of(bytes), encoding: 'chunks', ...more }),
  );
}

const chunksLeft = () => [...desk.store.keys(fileChunks, [vaultId])].length;
const keptBytes = () => desk.store.get(vaultHeads, [vaultId])?.kept_bytes;
const edited = (bytes: Buffer): Buffer => Buffer.concat([randomBytes(MiB), bytes.subarray(MiB)]);

test('[SYN-38, SYN-21] two files and two versions share chunks, which count once and go with their last version', async () => {
  const one = randomBytes(MIB * MiB);
  const two = edited(one);
  const first = await push('one.bin', one);
  await push('copy.bin', one);
  await push('one.bin', two, { base_sha: first.record.sha256 });
  expect(chunksLeft()).toBe(MIB + 1);
  // Each version and each chunk counts 1 KiB more.
  const records = (3 + MIB + 1) * 1024;
  expect(keptBytes()).toBe((MIB + 1) * MiB + records);
  expect(desk.sync.reader.useOf(WHO)).toEqual({ files: 2 * MIB * MiB, history: (1 - MIB) * MiB + records });
  expect(desk.problems()).toEqual([]);
  desk.clock.ms += 40 * DAY_MS;
  await desk.sync.retention.clear(vaultId, 1);
  // The copy still has the first chunk.
  expect(chunksLeft()).toBe(MIB + 1);
  await desk.sync.push.push(WHO, {
    path: 'copy.bin',
    deleted: true,
    base_sha: sha256Of(one),
    device_id: 'd',
    mustHash: true,
  });
  desk.clock.ms += 40 * DAY_MS;
  await desk.sync.retention.clear(vaultId, 1);
  expect(chunksLeft()).toBe(MIB);
  expect(desk.problems()).toEqual([]);
});

test('[SYN-38] chunks that no file lists go after a day, and a list that needs one of them is then refused', async () => {
  const bytes = randomBytes(MIB * MiB);
  await send(bytes);
  expect(chunksLeft()).toBe(MIB);
  desk.clock.ms += 23 * 3_600_000;
  await desk.sync.retention.run();
  expect(chunksLeft()).toBe(MIB);
  desk.clock.ms += 3 * 3_600_000;
  await desk.sync.retention.run();
  expect(chunksLeft()).toBe(0);
  expect(keptBytes()).toBe(0);
  expect(desk.problems()).toEqual([]);
  const list = listOf(chunksIn(bytes));
  const args = desk.push('late.bin', list, { sha256: sha256Of(bytes), encoding: 'chunks' });
  await expect(desk.sync.push.push(WHO, args)).rejects.toMatchObject({ fault: { kind: 'invalid_fields' } });
  expect(desk.problems()).toEqual([]);
});

test('[SYN-38] a damaged chunk is named by the check, not given out, and healed when it is sent again', async () => {
  const bytes = randomBytes(MIB * MiB);
  await push('one.bin', bytes);
  const [key = ['', ''] as [string, string]] = [...desk.store.keys(fileChunks, [vaultId])];
  const storageId = desk.store.get(fileChunks, key)?.storage_id ?? 0;
  await desk.store.write({ kind: 'upgrade', id: '' }, (batch) =>
    batch.put(pieces, [storageId, 0], Buffer.from('flipped')),
  );
  expect(desk.problems().join()).toContain('its bytes do not match its hash');
  expect(await desk.sync.chunks.whole({ accountId: WHO, vaultId }, key[1])).toBeUndefined();
  await send(bytes);
  expect(desk.problems()).toEqual([]);
});

test('[SYN-38, SYN-18] a deleted vault leaves neither chunks nor their pieces', async () => {
  await push('one.bin', randomBytes(MIB * MiB));
  await desk.sync.vaults.delete(WHO, vaultId, desk.sync.vaults.record(WHO, vaultId).name);
  expect(desk.problems()).toEqual([]);
  // The second round finds nothing, and forgets the vault.
  await desk.sync.removal.run();
  await desk.sync.removal.run();
  expect(desk.rowsOf(vaultId)).toEqual([]);
  expect([...desk.store.keys(pieces)]).toEqual([]);
});
