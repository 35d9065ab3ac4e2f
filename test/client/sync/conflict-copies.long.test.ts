/** Bytes that cannot be on the hub under their own name become conflict copies: ordinary files, on every device. */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fchmodSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { appendChanges } from '../../../src/client/sync/base/state-file.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { account } from '../../support/mirror.ts';
import { plainly } from '../../support/plainly.ts';
import { startRelay } from '../../support/relay.ts';
import { type SyncedFolder as Place, syncedFolder, syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;

const pair = (files: Record<string, string>) => syncedPair(hub, key, files);

/** The texts of a folder, the device and time of conflict copies left out of their names. */
function shortTextsOf(place: Place): Record<string, string> {
  const all = Object.entries(textsOf(place));
  return Object.fromEntries(
    all.map(([path, text]) => [path.replaceAll(/ \(conflict \S+ \d{4}-\d\d-\d\d \d{6}\)/g, ' (conflict)'), text]),
  );
}

async function structuredOf<T>(place: Place, tool: string, ...args: string[]): Promise<T> {
  const { vault_id } = JSON.parse(place.read('.cairn/state.json')) as { vault_id: string };
  const { stdout } = await place.call(tool, `--vault_id=${vault_id}`, ...args, '--json');
  return JSON.parse(stdout) as T;
}

const conflictsOf = async (place: Place) =>
  (await structuredOf<{ conflicts: { path: string }[] }>(place, 'sync_pending_conflicts')).conflicts;

test('[SYN-25] a file edited here that became a folder elsewhere, and the other way round', async () => {
  const [a, b] = await pair({ x: 'file\n', 'd/y': 'in a folder\n', 'd/e/z': 'deep\n', other: '1\n' });
  a.remove('x');
  a.write('x/deep/z', 'below\n');
  rmSync(a.at('d'), { recursive: true });
  a.write('d', 'a file now\n');
  a.write('other', '2\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  b.write('x', 'edited\n');
  b.write('d/y', 'edited\n');
  b.write('d/e/new.md', 'new\n');
  // Nothing keeps root from reading.
  const met = await b.syncUnder(plainly);
  expect([met.code, met.stderr]).toEqual([0, '']);
  expect(met.stdout).toMatch(/conflict +x +\(kept as x \(conflict/);
  expect(await a.sync()).toMatchObject({ code: 0 });
  const all = {
    d: 'a file now\n',
    'd (conflict)/e/new.md': 'new\n',
    'd (conflict)/y': 'edited\n',
    other: '2\n',
    'x (conflict)': 'edited\n',
    'x/deep/z': 'below\n',
  };
  expect(shortTextsOf(b)).toEqual(all);
  expect(textsOf(a)).toEqual(textsOf(b));
  expect((await b.sync()).stdout.trim()).toBe('up to date');
}, 180_000);

test.runIf(process.platform === 'linux')(
  '[SYN-25] two files whose names differ only in case, or only in Unicode form',
  async () => {
    const [a, b] = await pair({ 'Notes.md': 'known\n', 'é.txt': 'known\n' });
    b.write('notes.md', 'twin\n');
    b.write('e\u0301.txt', 'twin\n');
    b.write('F5', 'one\n');
    b.write('f5', 'two\n');
    expect(await b.sync()).toMatchObject({ code: 0, stderr: '' });
    expect(await a.sync()).toMatchObject({ code: 0 });
    expect(textsOf(a)).toEqual(textsOf(b));
    const texts = shortTextsOf(a);
    expect(texts).toMatchObject({ 'Notes.md': 'known\n', 'notes (conflict).md': 'twin\n' });
    expect(texts).toMatchObject({ 'é.txt': 'known\n', 'é (conflict).txt': 'twin\n' });
    expect(Object.values(texts).sort()).toEqual(['known\n', 'known\n', 'one\n', 'twin\n', 'twin\n', 'two\n']);
    expect((await b.sync()).stdout.trim()).toBe('up to date');
  },
  180_000,
);

test('[SYN-25] an edit of a path where as many conflicts wait as there may be', async () => {
  const [a, b] = await pair({ x: '1\n' });
  a.write('x', '2\n');
  await a.sync();
  const sha256 = (await structuredOf<{ files: { sha256: string }[] }>(a, 'sync_list')).files[0]?.sha256 ?? '';
  const { createHash } = await import('node:crypto');
  const first = createHash('sha256').update('1\n').digest('hex');
  const files = Array.from({ length: 10 }, (_, at) => {
    const content = `other ${at}\n`;
    const own = createHash('sha256').update(content).digest('hex');
    return { path: 'x', content, sha256: own, base_sha: first, device_id: `other-${at}` };
  });
  await structuredOf(a, 'sync_push_many', `--files=${JSON.stringify(files)}`);
  expect(await conflictsOf(a)).toHaveLength(10);
  // Conflicts of other devices are listed too, with the command that settles each.
  const { stdout } = await a.sync('status');
  expect(stdout).toMatch(/conflict +x .*from other-3; .* cairn call sync_resolve_conflict --conflict_id=c_\w+ --keep=/);
  b.write('x', 'of b\n');
  expect(await b.sync()).toMatchObject({ code: 0 });
  await a.sync();
  expect(sha256).not.toBe('');
  expect(shortTextsOf(b)).toEqual({ x: '2\n', 'x (conflict)': 'of b\n' });
  expect(textsOf(a)).toEqual(textsOf(b));
}, 180_000);

test('[SYN-25] what a program writes to a file that was replaced, or removed, under it', async () => {
  const [a, b] = await pair({ x: 'one\n', 'd/y': 'one\n', closed: 'one\n' });
  const open = ['x', 'd/y', 'closed'].map((path) => openSync(b.at(path), 'a'));
  a.write('x', 'two\n');
  a.write('closed', 'two\n');
  a.remove('d/y');
  await a.sync();
  await b.sync();
  for (const descriptor of open) {
    writeSync(descriptor, 'written late\n');
    if (descriptor === open[2]) fchmodSync(descriptor, 0);
    closeSync(descriptor);
  }
  const aside = join(b.folder, '.cairn', 'aside');
  const changed = readdirSync(aside).map((name) => statSync(join(aside, name)).ctimeMs);
  // The sweep leaves young files alone; their age is their change time, which nobody can set.
  await sleep(Math.max(...changed) + 10_500 - Date.now());
  // Nothing keeps root from reading.
  const met = await b.syncUnder(plainly);
  expect([met.code, met.stderr]).toEqual([0, '']);
  expect(met.stdout).toMatch(/conflict +x +\(kept as x \(conflict/);
  await a.sync();
  const late = 'one\nwritten late\n';
  expect(shortTextsOf(a)).toEqual({
    'd/y (conflict)': late,
    x: 'two\n',
    'x (conflict)': late,
    closed: 'two\n',
    'closed (conflict)': late,
  });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(readdirSync(aside)).toEqual([]);
}, 180_000);

test.runIf(process.platform !== 'win32')(
  '[SYN-25] an edit in a folder that may not be written, where the merge cannot be put',
  async () => {
    const [a, b] = await pair({ 'd/x': 'first\nmiddle\nlast\n' });
    a.write('d/x', 'first, of a\nmiddle\nlast\n');
    await a.sync();
    b.write('d/x', 'first\nmiddle\nlast, of b\n');
    chmodSync(b.at('d'), 0o555);
    expect(await b.syncUnder(plainly)).toMatchObject({ code: 3 });
    chmodSync(b.at('d'), 0o755);
    expect(await conflictsOf(a)).toMatchObject([{ path: 'd/x' }]);
    expect(await b.sync('resolve', 'd/x', '--keep', 'mine')).toMatchObject({ code: 0 });
    await a.sync();
    expect(a.read('d/x')).toBe('first\nmiddle\nlast, of b\n');
  },
  180_000,
);

test('[SYN-25] saves during a slow sync are versions, each of them', async () => {
  const relay = await startRelay(hub);
  const vault = newVault();
  const a = syncedFolder(relay, key, vault);
  a.write('x', 'first\n');
  await a.sync();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  const saves = new Saves(a.at('.cairn'));
  const watcher = a.watch();
  try {
    await until(() => watcher.output().includes('watching'));
    await sleep(1500);
    // The sync that the first save begins does not get beyond its pull.
    relay.rules = {
      holds: async ({ body }) => {
        if (!body.includes('sync_pull') || body.includes('wait_seconds')) return;
        isHeld = true;
        await held;
      },
    };
    for (const text of ['second\n', 'third\n', 'fourth\n']) {
      a.write('x', text);
      await until(() => isHeld);
      // It stood still until it was kept.
      await until(() => saves.list().some((save) => save.read()?.bytes.toString() === text), watcher.output);
    }
    release();
    const texts = async () => {
      const { versions } = await structuredOf<{ versions: { sha256: string }[] }>(a, 'sync_history', '--path=x');
      return versions.length;
    };
    await until(async () => (await texts()) === 4);
    await sleep(1500);
    expect(await texts()).toBe(4);
    expect(await conflictsOf(a)).toEqual([]);
    expect(readdirSync(a.at('.cairn/saves'))).toEqual([]);
  } finally {
    relay.rules = {};
    release();
    await watcher.stop();
    await relay.close();
  }
}, 180_000);

test('[SYN-25] a file that was agreed on in two spellings is one file again, and the other bytes are a copy', async () => {
  const [a, b] = await pair({ 'Src/x.md': 'shared\n', 'Src/y.md': 'y\n', 'other.md': 'other\n' });
  b.write('Src/X.md', 'twin\n');
  const sha256 = createHash('sha256').update('twin\n').digest('hex');
  expect(appendChanges(new SyncedFolder(b.folder), { base: [['Src/X.md', { sha256 }]] })).toBe(true);
  for (const place of [b, a, b]) expect(await place.sync()).toMatchObject({ code: 0 });
  expect(shortTextsOf(b)).toEqual({
    'Src/x.md': 'shared\n',
    'Src/X (conflict).md': 'twin\n',
    'Src/y.md': 'y\n',
    'other.md': 'other\n',
  });
  expect(textsOf(a)).toEqual(textsOf(b));
});

test('[SYN-25] a twin in another case that cannot become a copy, and is removed, takes nothing from the file that it is like', async () => {
  const files = { 'Src/x.md': 'shared\n', 'Src/y.md': 'y\n', 'other.md': 'other\n' };
  const [a, b] = await pair(files);
  b.write('src/x.md', 'twin\n');
  chmodSync(b.at('src'), 0o555);
  const watch = b.watch({}, { wrapper: plainly });
  const tick = async (text: string) => {
    a.write('tick', text);
    await a.sync();
    await until(() => b.has('tick') && b.read('tick') === text, watch.output);
  };
  await until(() => watch.output().includes('src/x.md is not synced'), watch.output);
  await tick('1');
  chmodSync(b.at('src'), 0o755);
  rmSync(b.at('src/x.md'));
  await tick('2');
  await watch.stop();
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(shortTextsOf(b)).toMatchObject({ ...files, tick: '2' });
  expect(textsOf(a)).toEqual(textsOf(b));
});

test.runIf(process.platform === 'linux')(
  '[SYN-25] bytes that the hub refuses, in a folder where nothing can be renamed, are on the hub before that folder is gone',
  async () => {
    const [a, b] = await pair({ 'p/X': 'shared\n', 'p/é': 'shared\n', 'q/d/x': 'shared\n' });
    rmSync(a.at('q/d'), { recursive: true });
    a.write('q/d', 'a file now\n');
    await a.sync();
    b.write('p/x', 'twin in case\n');
    b.write('p/e\u0301', 'twin in form\n');
    b.write('q/d/y', 'below a folder that is a file there\n');
    const locked = ['p', 'q'];
    for (const folder of locked) chmodSync(b.at(folder), 0o555);
    for (let round = 0; round < 3; round += 1) {
      expect(await b.syncUnder(plainly)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/p\/x is not synced/),
      });
    }
    for (const folder of locked) {
      chmodSync(b.at(folder), 0o755);
      rmSync(b.at(folder), { recursive: true });
      b.write(folder, 'a file here\n');
    }
    for (const machine of [b, a, b, a]) await machine.sync('--allow-deletes');
    const kept = Object.values(shortTextsOf(a));
    for (const bytes of ['twin in case\n', 'twin in form\n', 'below a folder that is a file there\n']) {
      expect(kept.filter((text) => text === bytes)).toEqual([bytes]);
    }
    expect(textsOf(b)).toEqual(textsOf(a));
  },
  180_000,
);

test('[SYN-25] an earlier save whose name is taken on the hub is there as a conflict copy before it is in the folder', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(relay, key, vault)];
  a.write('x/below.md', 'below\n');
  await a.sync();
  await b.sync();
  const text = 'an earlier save\n';
  const sha256 = createHash('sha256').update(text).digest('hex');
  const name = `${Date.now()}-000001-a`;
  b.write(`.cairn/saves/${name}`, text);
  b.write(
    `.cairn/saves/${name}.json`,
    JSON.stringify({ path: 'x', sha256, base: '', executable: false, modifiedMs: 0 }),
  );
  const copies = () => readdirSync(b.folder).filter((one) => one.startsWith('x (conflict'));
  const meanwhile: string[][] = [];
  relay.rules = {
    holds: ({ body }) => {
      if (body.includes('sync_push') && body.includes('x (conflict')) meanwhile.push(copies());
      return Promise.resolve();
    },
  };
  expect(await b.sync()).toMatchObject({ code: 0, stderr: '' });
  expect(meanwhile).toEqual([[]]);
  expect(copies().map((one) => b.read(one))).toEqual([text]);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual(textsOf(b));
  await relay.close();
});
