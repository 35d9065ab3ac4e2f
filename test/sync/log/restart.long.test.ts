/** What a restart, a crash and a restored backup leave of packs and cursors. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allTables } from '../../../src/compose/tables.ts';
import type { Batch } from '../../../src/store/group-commit.ts';
import { Store } from '../../../src/store/store.ts';
import type { Table } from '../../../src/store/table.ts';
import { packBytes, packDead, packs } from '../../../src/sync/log/pack-records.ts';
import { forge } from '../../support/forge.ts';
import { runCairn, startHub } from '../../support/hub.ts';
import { pull, pullStream, pushMany, SlowReader } from '../../support/pull.ts';
import { Device, newDevice } from '../../support/sync.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const filesOf = (count: number, round: string) =>
  Array.from({ length: count }, (_, n) => ({ path: `f/${n}.md`, content: `${round} ${n}\n`.repeat(150) }));
const rest = () => new Promise((resolve) => setTimeout(resolve, 1500));

test('[SYN-20, OPS-2] packs are used again after a restart, and made again after a crash in the middle of it', async () => {
  const folder = temporaryFolder();
  let hub = await startHub({ dataFolder: folder });
  const device = await newDevice(hub);
  await pushMany(device, filesOf(900, 'one'));
  await rest();
  const before = await pullStream(device, { initial: true });
  expect(await hub.stop()).toBe(0);

  hub = await startHub({ dataFolder: folder });
  const again = new Device(hub, device.key);
  again.ms = device.ms;
  expect((await pullStream(again, { initial: true })).lines).toEqual(before.lines);
  const reader = new SlowReader(again, hub.port, { initial: true });
  await reader.stall();
  await pushMany(again, filesOf(900, 'two'));
  await hub.kill();
  reader.vanish();

  hub = await startHub({ dataFolder: folder });
  const last = new Device(hub, device.key);
  last.ms = again.ms;
  const whole = await pullStream(last, { initial: true });
  expect(whole.lines.map(({ content }) => content).every((content) => content.startsWith('two'))).toBe(true);
  expect(whole.lines).toHaveLength(900);
  await rest();
  expect((await pullStream(last, { initial: true })).lines).toEqual(whole.lines);
  expect(await pull(last, { cursor: whole.end.cursor })).toMatchObject({ total_count: 0, deleted_count: 0 });
  expect(await hub.stop()).toBe(0);
  const verified = await runCairn(['verify', '--json'], { CAIRN_DATA: folder });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] });
});

test('[SYN-10] a cursor from before a restore is refused with resync_required, and one of the restored hub is taken', async () => {
  const folder = temporaryFolder();
  const backup = join(temporaryFolder(), 'backup');
  const restored = join(temporaryFolder(), 'restored');
  const hub = await startHub({ dataFolder: folder });
  const device = await newDevice(hub);
  await device.push('kept', '1');
  const { cursor: kept } = await pull(device, { initial: true });
  expect((await hub.cli('backup', backup, '--with-key')).code).toBe(0);
  await device.push('lost', '2');
  const { cursor: lost } = await pull(device, { initial: true });
  expect(await hub.stop()).toBe(0);
  expect(await runCairn(['restore', backup], { CAIRN_DATA: restored })).toMatchObject({ code: 0 });
  const next = await startHub({ dataFolder: restored });
  const same = new Device(next, device.key);
  for (const cursor of [kept, lost]) {
    const { code, data, message } = await same.refusal('sync_pull', { cursor });
    expect([code, data['field'], data['resync_required']]).toEqual([-32602, 'cursor', true]);
    expect(message).toContain('initial: true');
  }
  const all = await pull(same, { initial: true });
  expect(all.files.map(({ path }) => path)).toEqual(['kept']);
  expect(await pull(same, { cursor: all.cursor })).toMatchObject({ total_count: 0 });
  await next.stop();
});

test('[SYN-10] a cursor is refused after the data folder was put back to an earlier copy, even once its number is reached again', async () => {
  const folder = temporaryFolder();
  const copy = join(temporaryFolder(), 'copy');
  const hub = await startHub({ dataFolder: folder });
  const device = await newDevice(hub);
  await device.push('kept', '1');
  const { cursor: kept } = await pull(device, { initial: true });
  expect(await hub.stop()).toBe(0);
  cpSync(folder, copy, { recursive: true });
  const later = await startHub({ dataFolder: folder });
  await new Device(later, device.key).push('lost', '2');
  const { cursor: lost } = await pull(new Device(later, device.key), { cursor: kept });
  expect(await later.stop()).toBe(0);
  const before = await startHub({ dataFolder: copy });
  const other = new Device(before, device.key);
  other.ms = device.ms + 1;
  for (const path of ['one', 'two']) await other.push(path, path);
  const { data } = await other.refusal('sync_pull', { cursor: lost });
  expect([data['field'], data['resync_required']]).toEqual(['cursor', true]);
  expect(await pull(other, { cursor: kept })).toMatchObject({ total_count: 2 });
  await before.stop();
});

test('[OPS-6] verify finds a pack whose lines, marks or range are not those of the log', async () => {
  const folder = temporaryFolder();
  const hub = await startHub({ dataFolder: folder });
  const device = await newDevice(hub);
  await pushMany(device, filesOf(1000, 'one'));
  await rest();
  // A quarter of each pack: too little to write it anew, and together enough to be packed, so that lines are marked dead.
  await pushMany(
    device,
    filesOf(1000, 'two').filter((_, n) => n % 4 === 0),
  );
  await rest();
  await pull(device, { initial: true, limit: 1 });
  expect(await hub.stop()).toBe(0);
  const verify = async () => JSON.parse((await runCairn(['verify', '--json'], { CAIRN_DATA: folder })).stdout);
  const sound = await verify();
  expect(sound).toMatchObject({ ok: true, problems: [] });
  expect(sound.packs).toBeGreaterThan(2);
  for (const [damage, sentence] of DAMAGES) {
    const store = new Store({ folder, tables: allTables });
    const mend = await damage(store);
    await store.close();
    const { ok, problems } = await verify();
    expect([ok, problems.join('\n')]).toEqual([false, expect.stringMatching(sentence)]);
    const again = new Store({ folder, tables: allTables });
    await forge(again, mend);
    await again.close();
  }
  expect(await verify()).toEqual(sound);
});

type Damage = (store: Store) => Promise<(batch: Batch) => void>;

/** Puts changed bytes into the first row of a table; gives what puts the right ones back. */
function changing<K extends [string, number] | [number]>(
  table: Table<K, Uint8Array>,
  change: (bytes: Uint8Array) => Uint8Array,
): Damage {
  return async (store) => {
    const [row] = store.range(table, { prefix: [], limit: 1 });
    if (row === undefined) throw new Error(`${table.name} is empty`);
    await forge(store, (batch) => batch.put(table, row.key, change(row.value)));
    return (batch) => batch.put(table, row.key, row.value);
  };
}

const flipped = (at: number) => (bytes: Uint8Array) => bytes.with(at, (bytes[at] ?? 0) ^ 1);

const DAMAGES: readonly (readonly [Damage, RegExp])[] = [
  [changing(packBytes, flipped(500)), /its line \d+ differs from the version/],
  [changing(packBytes, (bytes) => bytes.slice(0, -1)), /its size is not the size in its index/],
  [changing(packs, flipped(0)), /its index cannot be read/],
  [changing(packs, flipped(8)), /does not follow|cannot be read|differs from the version/],
  [changing(packDead, flipped(0)), /live lines for|is in no pack/],
  [
    async (store) => {
      await forge(store, (batch) => batch.put(packBytes, [999_999], new Uint8Array(3)));
      return (batch) => batch.remove(packBytes, [999_999]);
    },
    /pack 999999: its bytes are not indexed/,
  ],
];
