/** A list counts in its chunks a portion a decision, before a version has it and after the last one is gone: what ends in between is taken back. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { openLog } from '../../../src/common/log.ts';
import { limits } from '../../../src/limits/service.ts';
import { PieceStaging } from '../../../src/sync/contents/staging.ts';
import { readChunkList } from '../../../src/sync/log/large-content.ts';
import { fileChunks, pieces, stagedPieces, versions, versionsAside } from '../../../src/sync/log/records.ts';
import { setVersionAside } from '../../../src/sync/log/set-aside.ts';
import { readVersionHead } from '../../../src/sync/log/version.ts';
import { openSync } from '../../../src/sync/service.ts';
import { chunksIn, listOf, MiB } from '../../support/large-files.ts';
import { sha256Of } from '../../support/sync.ts';
import { openSyncDesk, type SyncDesk } from '../support.ts';
import { MortalStore } from './mortal-store.ts';

const WHO = 'account';
const DAY_MS = 86_400_000;
/** So that a list has three portions. */
const CHUNK_BYTES = (11 * MiB) / 176;
const UPGRADE = { kind: 'upgrade', id: '' } as const;
let desk: SyncDesk;
let vaultId: string;

beforeEach(async () => {
  desk = await openSyncDesk(Date.parse('2026-11-20T12:00:00.000Z'));
  vaultId = await desk.sync.vaults.idOf(WHO, undefined);
});
afterEach(() => desk.close());

const cut = (bytes: Buffer) => chunksIn(bytes, CHUNK_BYTES);
const large = () => randomBytes(11 * MiB);

async function send(bytes: Buffer): Promise<void> {
  for (const chunk of cut(bytes)) {
    await desk.sync.chunks.put({ accountId: WHO, vaultId }, sha256Of(chunk), Uint8Array.from(chunk));
  }
}

const pushOf = (path: string, bytes: Buffer, more = {}) =>
  desk.push(path, listOf(cut(bytes)), { sha256: sha256Of(bytes), encoding: 'chunks', ...more });

async function push(path: string, bytes: Buffer, more = {}) {
  await send(bytes);
  desk.clock.ms += 1000;
  return await desk.sync.push.push(WHO, pushOf(path, bytes, more));
}

const holders = () =>
  [...desk.store.keys(fileChunks, [vaultId])].map((key) => desk.store.get(fileChunks, key)?.holders);
const counts = () => [...new Set(holders())].toSorted((one, other) => Number(one) - Number(other));
const staged = () => [...desk.store.keys(stagedPieces)].map((key) => desk.store.get(stagedPieces, key));
const listAt = (seq: number) => {
  const bytes = desk.store.get(versions, [vaultId, seq]);
  return bytes === undefined ? 0 : readVersionHead(bytes).storageId;
};

/** Stages a list, and counts it. */
async function stage(text: string): Promise<number> {
  const storageId = await desk.sync.staging.stage(Buffer.from(text));
  await desk.sync.staging.lists.hold({ accountId: WHO, vaultId }, storageId, readChunkList(text) ?? []);
  return storageId;
}

test('[SYN-38] a list whose last chunk is missing counts nowhere once it is refused', async () => {
  const bytes = large();
  await send(bytes);
  const text = listOf([...cut(bytes), randomBytes(100)]);
  await expect(stage(text)).rejects.toMatchObject({ fault: { kind: 'invalid_fields' } });
  expect(staged()).toEqual([expect.objectContaining({ held: { vault_id: vaultId, chunks: 128 } })]);
  expect(counts()).toEqual([0, 1]);
  expect(desk.problems()).toEqual([]);
  const [[storageId] = [0]] = [...desk.store.keys(stagedPieces)];
  await desk.sync.staging.discard(storageId);
  expect([counts(), staged(), desk.problems()]).toEqual([[0], [], []]);
});

test('[SYN-38] chunks that were acknowledged stay when a crash or a refusal ends their push, and it can be sent again', async () => {
  const bytes = large();
  await send(bytes);
  const text = listOf(cut(bytes));
  await stage(text);
  const { log } = openLog('silent');
  const next = new PieceStaging({
    store: desk.store,
    actors: new ActorRegistry(desk.store),
    log,
    now: () => desk.clock.ms,
  });
  expect(await next.sweep()).toBe(1);
  expect([counts(), staged(), desk.problems()]).toEqual([[0], [], []]);
  // As a push leaves its list that its decision refuses.
  await desk.sync.staging.discard(await stage(text));
  expect([counts(), staged(), desk.problems()]).toEqual([[0], [], []]);
  await desk.sync.push.push(WHO, pushOf('new.bin', bytes));
  expect([counts(), staged(), desk.problems()]).toEqual([[1], [], []]);
});

test('[SYN-38] the next start takes back what a crash left of a push and of a removal', async () => {
  const bytes = large();
  await push('kept.bin', bytes);
  const text = listOf(cut(bytes));
  await stage(text);
  expect(counts()).toEqual([2]);
  expect(desk.problems()).toEqual([]);
  // As retention leaves a list that nothing has any more.
  const gone = await stage(`${text}`);
  await desk.store.write({ kind: 'vault', id: vaultId }, (batch) =>
    desk.sync.staging.lists.orphan(batch, vaultId, gone),
  );
  expect(counts()).toEqual([3]);
  expect(desk.problems()).toEqual([]);
  const { log } = openLog('silent');
  const next = new PieceStaging({
    store: desk.store,
    actors: new ActorRegistry(desk.store),
    log,
    now: () => desk.clock.ms,
  });
  expect(await next.sweep()).toBe(2);
  expect([counts(), staged(), desk.problems()]).toEqual([[1], [], []]);
});

test('[SYN-38] a start does not wait until what a crash left is taken back, and discards nothing that is staged meanwhile', async () => {
  const bytes = large();
  await push('kept.bin', bytes);
  const text = listOf(cut(bytes));
  await stage(text);
  await stage(text);
  // As a disk that takes no write would: what waits for one never ends.
  const mortal = new MortalStore(desk.store);
  mortal.killAfter(0);
  const stuck = { ...desk.options, store: mortal.store, actors: new ActorRegistry(mortal.store) };
  expect(await openSync(stuck)).toHaveProperty('staging');
  expect(staged()).toHaveLength(2);
  const next = await openSync(desk.options);
  const meanwhile = await next.staging.stage(Buffer.from(text));
  await vi.waitFor(() => expect(staged()).toHaveLength(1), { timeout: 30_000 });
  expect(desk.store.get(pieces, [meanwhile, 0])).toBeDefined();
  await next.staging.discard(meanwhile);
  expect([counts(), staged(), desk.problems()]).toEqual([[1], [], []]);
  await next.reading.close();
});

test('[SYN-38, SYN-21] no decision counts more chunks than a portion, when a list comes and when it goes', async () => {
  const bytes = large();
  await send(bytes);
  const rows = limits.chunkRowsPerDecision;
  const before = desk.store.commits.counts.decisions;
  const { record } = await desk.sync.push.push(WHO, pushOf('one.bin', bytes));
  // Three portions, and the push.
  expect(desk.store.commits.counts.decisions - before).toBeGreaterThanOrEqual(Math.ceil(176 / rows) + 1);
  desk.clock.ms += 1000;
  await desk.sync.push.push(WHO, {
    path: 'one.bin',
    deleted: true,
    base_sha: record.sha256,
    device_id: 'd',
    mustHash: true,
  });
  desk.clock.ms += 40 * DAY_MS;
  await desk.sync.retention.clear(vaultId, 1);
  expect([holders(), staged(), desk.problems()]).toEqual([[], [], []]);
  expect([...desk.store.keys(pieces)]).toEqual([]);
});

test('[SYN-38] the same chunk from many devices at once is stored once', async () => {
  const [chunk = Buffer.alloc(0)] = cut(large());
  const put = () => desk.sync.chunks.put({ accountId: WHO, vaultId }, sha256Of(chunk), Uint8Array.from(chunk));
  const answers = await Promise.all(Array.from({ length: 12 }, put));
  expect(answers).toContain('stored');
  expect([holders(), staged(), desk.problems()]).toEqual([[0], [], []]);
  expect([...desk.store.keys(pieces)]).toHaveLength(1);
});

test('[SYN-38, SYN-18] pushes and chunks that meet the removal of their vault leave nothing', async () => {
  const bytes = large();
  await send(bytes);
  const pushes = ['a.bin', 'b.bin', 'c.bin'].map((path) => desk.sync.push.push(WHO, pushOf(path, bytes)));
  const puts = [1, 2, 3].map(() => send(randomBytes(CHUNK_BYTES)));
  await new Promise((resolve) => setTimeout(resolve, 60));
  await desk.sync.vaults.delete(WHO, vaultId, desk.sync.vaults.record(WHO, vaultId).name);
  const removal = desk.sync.removal.run();
  await Promise.allSettled([...pushes, ...puts, removal]);
  expect(desk.problems()).toEqual([]);
  await desk.sync.removal.run();
  await desk.sync.removal.run();
  expect([desk.rowsOf(vaultId), staged(), [...desk.store.keys(pieces)]]).toEqual([[], [], []]);
});

test('[SYN-38] retention beside pushes of the same chunks leaves each chunk that a file has', async () => {
  const [one, two] = [large(), large()];
  const first = await push('a.bin', one);
  await push('a.bin', two, { base_sha: first.record.sha256 });
  desk.clock.ms += 40 * DAY_MS;
  const clearing = desk.sync.retention.clear(vaultId, 1);
  const pushed = Promise.all(
    ['b.bin', 'c.bin'].map(async (path) => {
      await send(one);
      return await desk.sync.push.push(WHO, pushOf(path, one));
    }),
  );
  await Promise.allSettled([clearing, pushed]);
  expect(desk.problems()).toEqual([]);
  await push('d.bin', one);
  expect([desk.problems(), staged()]).toEqual([[], []]);
});

test('[SYN-38] a chunk that was cut short or changed is named, asked for again, and whole after that', async () => {
  const bytes = large();
  await push('one.bin', bytes);
  const [, second = Buffer.alloc(0)] = cut(bytes);
  const name = sha256Of(second);
  for (const damaged of [second.subarray(0, 7), Buffer.concat([second, second]), Buffer.alloc(second.length)]) {
    // Each healing stores the chunk anew.
    const storageId = desk.store.get(fileChunks, [vaultId, name])?.storage_id ?? 0;
    await desk.store.write(UPGRADE, (batch) => batch.put(pieces, [storageId, 0], Uint8Array.from(damaged)));
    const rest = randomBytes(10);
    await send(rest);
    const next = Buffer.concat([bytes, rest]);
    await expect(desk.sync.push.push(WHO, pushOf('two.bin', next))).rejects.toMatchObject({
      fault: { kind: 'invalid_fields', fields: { content: [expect.stringContaining(name)] } },
    });
    const vault = { accountId: WHO, vaultId };
    expect(await desk.sync.chunks.missing(vault, cut(next).map(sha256Of))).toEqual([name]);
    expect(staged()).toEqual([]);
    await send(bytes);
    expect(await desk.sync.chunks.missing(vault, cut(next).map(sha256Of))).toEqual([]);
    expect(desk.problems()).toEqual([]);
  }
});

test('[SYN-38] a damaged list is whole again once its file is sent again', async () => {
  const bytes = large();
  const { record } = await push('one.bin', bytes);
  const text = Buffer.from(listOf(cut(bytes)));
  const list = listAt(record.seq);
  for (const at of [5, text.length - 1]) {
    const damaged = Uint8Array.from(text, (byte, index) => (index === at ? byte ^ 1 : byte));
    await desk.store.write(UPGRADE, (batch) => batch.put(pieces, [list, 0], damaged));
    expect(desk.problems().join('\n')).toContain('its content does not match its hash');
    expect(await push('one.bin', bytes)).toMatchObject({ status: 'unchanged' });
    expect([desk.problems(), staged(), counts()]).toEqual([[], [], [1]]);
  }
});

test('[SYN-38] a list that several versions share heals all of them that were set aside', async () => {
  const bytes = large();
  const first = await push('one.bin', bytes);
  const gone = { path: 'one.bin', deleted: true, base_sha: first.record.sha256, device_id: 'd', mustHash: true };
  await desk.sync.push.push(WHO, gone);
  const request = { path: 'one.bin', vaultId, seq: first.record.seq, baseSha: undefined, deviceId: undefined };
  const { record } = await desk.sync.history.restore(WHO, request);
  const text = Uint8Array.from(Buffer.from(listOf(cut(bytes))), (byte, at) => (at === 5 ? byte ^ 1 : byte));
  const list = listAt(record.seq);
  await desk.store.write(UPGRADE, (batch) => batch.put(pieces, [list, 0], text));
  for (const seq of [first.record.seq, record.seq]) {
    expect(await setVersionAside(desk.options.actors, [vaultId, seq], desk.clock.ms)).toBe(true);
  }
  expect(await push('one.bin', bytes)).toMatchObject({ status: 'unchanged' });
  expect([...desk.store.keys(versionsAside, [vaultId])]).toEqual([]);
  expect(desk.problems()).toEqual([]);
});

test('[SYN-38] a list without the SHA-256 of its file is refused', async () => {
  const bytes = large();
  await send(bytes);
  const { sha256: _, ...args } = pushOf('one.bin', bytes);
  await expect(desk.sync.push.push(WHO, { ...args, mustHash: false })).rejects.toMatchObject({
    fault: { kind: 'invalid_fields' },
  });
});
