/** What a client has, or had, is never lost: lost answers, merges, restored hubs, saves in the moment of a pull. */
import { randomBytes } from 'node:crypto';
import { chmodSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Hub, runCairn, startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { plainly } from '../../support/plainly.ts';
import { startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, textsOf } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
const edited = (at: number, text: string) => LINES.with(at, `${text}\n`).join('');

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** Nothing keeps root from writing: without these rights, permissions matter to it too. */

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;
const vaultOfFolder = ({ read }: SyncedFolder) =>
  (JSON.parse(read('.cairn/state.json')) as { vault_id: string }).vault_id;

async function toolOf<T>(machine: SyncedFolder, tool: string, ...args: string[]): Promise<T> {
  const { stdout } = await machine.call(tool, '--json', `--vault_id=${vaultOfFolder(machine)}`, ...args);
  return JSON.parse(stdout) as T;
}

const pendingOf = async (machine: SyncedFolder) =>
  (await toolOf<{ count: number }>(machine, 'sync_pending_conflicts')).count;

test('[SYN-25] a push whose answer is lost, and an edit after it, is not a conflict with oneself', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(relay, key, vault), syncedFolder(hub, key, vault)];
  for (const name of ['edited', 'removed', 'left', 'built-on']) a.write(name, 'one\n');
  a.write('kept', 'kept\n');
  a.write('kept too', 'kept\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  for (const name of ['edited', 'removed', 'left', 'built-on']) a.write(name, `two ${name}\n`);
  a.write('new', 'new\n');
  relay.rules = { drops: ({ body }) => body.includes('sync_push') };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
  await b.sync();
  b.write('built-on', 'three by b\n');
  await b.sync();
  a.write('edited', 'three\n');
  a.write('new', 'new, edited\n');
  a.remove('removed');
  const met = await a.sync();
  expect([met.code, met.stderr]).toEqual([0, '']);
  expect(textsOf(a)).toEqual({
    edited: 'three\n',
    left: 'two left\n',
    new: 'new, edited\n',
    'built-on': 'three by b\n',
    kept: 'kept\n',
    'kept too': 'kept\n',
  });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(await pendingOf(a)).toBe(0);
  await relay.close();
}, 180_000);

test('[SYN-25] both sides of a clean merge are versions, and a merge whose answer is lost is not a conflict', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(relay, key, vault)];
  for (const name of ['x', 'y']) a.write(name, LINES.join(''));
  await a.sync();
  await b.sync();
  a.write('x', edited(2, 'of a'));
  await a.sync();
  b.write('x', edited(15, 'of b'));
  expect(await b.sync()).toMatchObject({ code: 0, stdout: expect.stringContaining('merged') });
  await a.sync();
  const both = LINES.with(2, 'of a\n').with(15, 'of b\n').join('');
  expect([a.read('x'), b.read('x')]).toEqual([both, both]);
  const { versions } = await toolOf<{ versions: { size_bytes: number; seq: number }[] }>(a, 'sync_history', '--path=x');
  expect(versions).toHaveLength(4);

  // The first push of a merge is dropped, then the second.
  for (const dropped of [1, 2]) {
    a.write('y', a.read('y').replace('line 3\n', `line 3 of a ${dropped}\nline 3\n`));
    await a.sync();
    b.write('y', b.read('y').replace('line 17\n', `line 17 of b ${dropped}\nline 17\n`));
    let pushes = 0;
    relay.rules = {
      drops: ({ body }) => {
        pushes += body.includes('sync_push') ? 1 : 0;
        return body.includes('sync_push') && pushes === dropped;
      },
    };
    expect(await b.sync()).toMatchObject({ code: 4 });
    relay.rules = {};
    expect(await b.sync()).toMatchObject({ code: 0 });
    expect(await a.sync()).toMatchObject({ code: 0 });
    expect(a.read('y')).toContain(`line 3 of a ${dropped}\n`);
    expect(a.read('y')).toContain(`line 17 of b ${dropped}\n`);
    expect(b.read('y')).toBe(a.read('y'));
  }
  expect(await pendingOf(a)).toBe(0);
  await relay.close();
}, 180_000);

test('[SYN-25] folders of an account that was moved to another hub at the same address start over by themselves', async () => {
  const first = await startHub();
  const relay = await startRelay(first);
  const { mcp_key: own, email } = await account(first);
  const vault = newVault();
  const before = [syncedFolder(relay, own, vault), syncedFolder(relay, own, vault)];
  const [one, two] = before;
  for (const name of ['x', 'y', 'z']) one?.write(name, `${name}\n`);
  for (const machine of before) expect(await machine.sync()).toMatchObject({ code: 0 });
  const archive = join(temporaryFolder(), 'archive');
  expect(await first.cli('export', '--email', email, archive)).toMatchObject({ code: 0 });
  await first.stop();
  const dataFolder = temporaryFolder();
  const { stdout } = await runCairn(['import', archive, '--json'], { CAIRN_DATA: dataFolder });
  const { mcp_key: moved } = JSON.parse(stdout) as { mcp_key: string };
  const second = await startHub({ dataFolder });
  try {
    relay.target = second;
    one?.write('x', 'x of one\n');
    two?.write('y', 'y of two\n');
    const [a, b] = before.map(({ folder }) => syncedFolder(relay, moved, vault, folder));
    for (const machine of [a, b, a]) expect(await machine?.sync()).toMatchObject({ code: 0 });
    for (const machine of before) expect(textsOf(machine)).toEqual({ x: 'x of one\n', y: 'y of two\n', z: 'z\n' });
  } finally {
    await second.stop();
    await relay.close();
  }
}, 180_000);

test('[SYN-25] after a restore of the hub folders start over by themselves, and what the hub lost comes back', async () => {
  let restored: Hub | undefined;
  const first = await startHub();
  const relay = await startRelay(first);
  const { mcp_key: own } = await account(first);
  const vault = newVault();
  const [a, b] = [syncedFolder(relay, own, vault), syncedFolder(relay, own, vault)];
  for (const name of ['same', 'changed', 'removed', 'edited', 'fixed/waits']) a.write(name, `${name} 1\n`);
  for (const name of ['Notes.md', 'Reborn.md']) a.write(name, `${name} 1\n`);
  await a.sync();
  a.remove('Reborn.md');
  await a.sync();
  await b.sync();
  const backup = join(temporaryFolder(), 'backup');
  expect(await first.cli('backup', backup, '--with-key')).toMatchObject({ code: 0 });
  for (const name of ['changed', 'edited', 'fixed/waits']) a.write(name, `${name} 2\n`);
  a.write('new', 'new\n');
  // The hub loses what both folders agreed on, and knows both names in another case.
  a.rename('Notes.md', 'notes.md');
  a.write('notes.md', 'notes.md 2\n');
  a.write('reborn.md', 'reborn.md 2\n');
  a.remove('removed');
  await a.sync();
  await b.sync();
  // A third version cannot be written there, and waits.
  a.write('fixed/waits', 'fixed/waits 3\n');
  await a.sync();
  chmodSync(b.at('fixed'), 0o555);
  expect(await b.syncUnder(plainly)).toMatchObject({ code: 1 });
  chmodSync(b.at('fixed'), 0o755);
  await first.stop();
  try {
    const dataFolder = temporaryFolder();
    const target = join(dataFolder, 'data');
    expect(await runCairn(['restore', backup], { CAIRN_DATA: target })).toMatchObject({ code: 0 });
    restored = await startHub({ dataFolder: target });
    relay.target = restored;
    b.write('edited', 'edited 3\n');
    const met = await b.sync();
    expect([met.code, met.stdout, met.stderr]).toEqual([0, expect.any(String), '']);
    expect(b.read('fixed/waits')).toBe('fixed/waits 2\n');
    expect(await a.sync()).toMatchObject({ code: 0, stderr: '' });
    expect(await b.sync()).toMatchObject({ code: 0 });
    expect(textsOf(a)).toEqual(textsOf(b));
    expect(textsOf(a)).toMatchObject({ same: 'same 1\n', changed: 'changed 2\n', edited: 'edited 3\n', new: 'new\n' });
    expect(Object.values(textsOf(a))).toEqual(expect.arrayContaining(['notes.md 2\n', 'reborn.md 2\n']));
    expect((await a.sync()).stdout.trim()).toBe('up to date');
  } finally {
    await restored?.stop();
    await relay.close();
  }
}, 180_000);

test('[SYN-25] saves in the moment of a pull are never overwritten', async () => {
  const vault = newVault();
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(hub, key, vault)];
  a.write('x', 'one\n');
  a.write('y', 'one\n');
  await a.sync();
  await b.sync();
  const saved: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    a.write('x', `a ${round}\n`);
    await a.sync();
    const syncing = b.sync();
    let isOver = false;
    void syncing.then(() => {
      isOver = true;
    });
    // As editors save: aside, then in place.
    while (!isOver) {
      const text = `b ${round} ${saved.length}\n`;
      writeFileSync(`${b.folder}.tmp`, text);
      renameSync(`${b.folder}.tmp`, b.at('x'));
      saved.push(text);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    await b.sync();
    const last = saved.at(-1) ?? '';
    const conflicts = await toolOf<{ conflicts: { conflict_id: string }[] }>(b, 'sync_pending_conflicts');
    // The last save stays in its place; the hub's side waits.
    expect(b.read('x')).toBe(last);
    expect(conflicts.conflicts.length).toBeGreaterThan(0);
    expect(await b.sync('resolve', 'x', '--keep', 'theirs')).toMatchObject({ code: 0 });
    expect(b.read('x')).toBe(`a ${round}\n`);
  }
}, 180_000);

test('[SYN-25] the executable bit and the time of a file arrive, and the umask is the user’s', async () => {
  const vault = newVault();
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(hub, key, vault)];
  a.write('folder/plain', 'plain\n');
  utimesSync(a.at('folder/plain'), 1_600_000_000, 1_600_000_000);
  const before = process.umask(0o022);
  try {
    await a.sync();
    await b.sync();
  } finally {
    process.umask(before);
  }
  expect(statSync(b.at('folder/plain')).mode & 0o777).toBe(0o644);
  expect(statSync(b.at('folder')).mode & 0o777).toBe(0o755);
  expect(statSync(b.at('folder/plain')).mtimeMs).toBe(1_600_000_000_000);
}, 180_000);
