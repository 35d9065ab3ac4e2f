/** One bad file never stops the others: it is listed, with a reason, once. */

import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { plainly } from '../../support/plainly.ts';
import { type SyncedFolder, syncedFolder, syncedPair, textsOf } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const vaultNameOf = ({ read }: SyncedFolder) =>
  (JSON.parse(read('.cairn/state.json')) as { vault_name: string }).vault_name;
const pair = (files: Record<string, string | Buffer>) => syncedPair(hub, key, files);

test('[SYN-24] an unedited file becomes a folder, and a folder a file, and both back', async () => {
  const [a, b] = await pair({ x: 'file\n', 'd/e/y': 'in a folder\n' });
  for (const back of [false, true]) {
    for (const path of ['x', 'd']) rmSync(a.at(path), { recursive: true });
    if (back) a.write('x', 'file again\n');
    else a.write('x/z', 'below\n');
    if (back) a.write('d/e/y', 'folder again\n');
    else a.write('d', 'a file now\n');
    expect(await a.sync('--allow-deletes')).toMatchObject({ code: 0 });
    expect(await b.sync()).toMatchObject({ code: 0 });
    expect(textsOf(b)).toEqual(textsOf(a));
  }
}, 180_000);

test('[SYN-24] text here and binary there waits for the user, at every later sync', async () => {
  const [a, b] = await pair({ x: 'text\n', y: 'text\n', other: '1\n' });
  a.write('x', Buffer.from([0, 255, 254, 0, 1]));
  a.write('y', 'other text\n');
  a.write('other', '2\n');
  await a.sync();
  b.write('x', 'text, edited\n');
  b.write('y', Buffer.from([0, 255, 254, 0, 2]));
  for (let round = 0; round < 3; round += 1) {
    const met = await b.sync();
    expect([met.code, met.stderr]).toEqual([3, expect.not.stringMatching(/at .*\.js:/)]);
  }
  expect(b.read('other')).toBe('2\n');
  expect(await b.sync('resolve', 'x', '--keep', 'mine')).toMatchObject({ code: 3 });
  expect(await b.sync('resolve', 'y', '--keep', 'theirs')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual({ x: 'text, edited\n', y: 'other text\n', other: '2\n' });
}, 180_000);

test('[SYN-24] .cairnignore as a folder', async () => {
  const [a, b] = await pair({ x: 'x\n' });
  a.write('.cairnignore/inside', 'inside\n');
  a.write('y', 'y\n');
  const met = await a.sync();
  expect(met.stderr).not.toMatch(/EISDIR/);
  expect(await b.sync()).toMatchObject({ stderr: expect.not.stringMatching(/EISDIR/) });
  expect(b.read('y')).toBe('y\n');
}, 180_000);

test('[SYN-24] what was left out while the hub changed is compared again when it takes part', async () => {
  const [a, b] = await pair({ 'ignored.log': '1\n', linked: '1\n', large: '1\n' });
  b.write('.cairnignore', '');
  await b.sync();
  await a.sync();
  b.write('.cairn/ignore', '*.log\n');
  b.remove('linked');
  symlinkSync('/etc/hostname', b.at('linked'));
  // Larger than any file of a vault, without a byte on the disk.
  b.write('large', '');
  truncateSync(b.at('large'), 2 * 1024 * MiB + 1);
  for (const path of ['ignored.log', 'linked', 'large', 'new.log']) a.write(path, '2\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 1, stdout: expect.not.stringContaining('up to date') });
  expect(b.read('ignored.log')).toBe('1\n');
  expect(b.has('new.log')).toBe(false);
  b.remove('.cairn/ignore');
  b.remove('linked');
  b.write('large', '1\n');
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual({ ...textsOf(a) });
  expect(b.read('ignored.log')).toBe('2\n');
}, 180_000);

test('[SYN-24] a refused push is told, and the folder is not up to date until it is accepted', async () => {
  const [a] = await pair({ x: 'x\n' });
  a.write('bad\\name', 'x\n');
  for (let round = 0; round < 2; round += 1) {
    const met = await a.sync();
    expect([met.code, met.stdout]).toEqual([1, expect.not.stringContaining('up to date')]);
    expect(met.stdout + met.stderr).toContain('bad\\name');
  }
  const status = await a.sync('status');
  expect([status.code, status.stdout]).toEqual([1, expect.stringContaining('bad\\name')]);
  a.rename('bad\\name', 'good name');
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect((await a.sync()).stdout.trim()).toBe('up to date');
}, 180_000);

test.runIf(process.platform !== 'win32')(
  '[SYN-24] a file and a folder that cannot be read, and a folder that cannot be written, are listed; nothing is deleted',
  async () => {
    const [a, b] = await pair({ x: 'x\n', y: 'y\n', 'closed/y': 'y\n', 'fixed/z': '1\n', other: '1\n' });
    // Nobody may keep root from reading.
    const syncPlainly = () => b.syncUnder(plainly);
    chmodSync(b.at('x'), 0);
    chmodSync(b.at('closed'), 0);
    chmodSync(b.at('fixed'), 0o555);
    for (const path of ['x', 'fixed/z', 'other']) a.write(path, '2\n');
    await a.sync();
    b.write('mine', 'mine\n');
    const met = await syncPlainly();
    expect([met.code, met.stderr]).toEqual([1, expect.not.stringMatching(/at .*\.js:/)]);
    for (const path of ['x', 'closed', 'fixed/z']) expect(met.stderr).toContain(`cairn: ${path} is not synced`);
    expect(b.read('other')).toBe('2\n');
    expect(await a.sync()).toMatchObject({ code: 0 });
    expect(textsOf(a)).toMatchObject({ x: '2\n', 'closed/y': 'y\n', mine: 'mine\n' });
    chmodSync(b.at('x'), 0o644);
    chmodSync(b.at('closed'), 0o755);
    chmodSync(b.at('fixed'), 0o755);
    expect(await syncPlainly()).toMatchObject({ code: 0 });
    expect(textsOf(b)).toEqual(textsOf(a));
    // Its names can be listed, and nothing in it can be opened.
    chmodSync(b.at('closed'), 0o644);
    for (const path of ['x', 'closed/y']) a.write(path, '3\n');
    await a.sync();
    for (const args of [[], ['status']]) {
      const listed = await b.syncUnder(plainly, ...args);
      expect([listed.code, listed.stderr + listed.stdout]).toEqual([1, expect.stringContaining('closed/y')]);
    }
    expect(b.read('x')).toBe('3\n');
    chmodSync(b.at('closed'), 0o755);
    expect(await syncPlainly()).toMatchObject({ code: 0 });
    expect(b.read('closed/y')).toBe('3\n');
    // As after `sudo cairn sync`.
    chmodSync(b.at('.cairn/state.json'), 0);
    expect(await syncPlainly()).toMatchObject({ code: 1, stderr: expect.stringContaining('sudo chown -R "$USER"') });
  },
  180_000,
);

test('[SYN-25] a folder that is emptied, replaced or mostly gone deletes nothing on the hub, however few files it had', async () => {
  const [a, b] = await pair({ one: '1\n', two: '2\n', 'three/deep': '3\n' });
  for (const path of ['one', 'two', 'three']) rmSync(b.at(path), { recursive: true });
  const emptied = await b.sync();
  expect([emptied.code, emptied.stderr]).toEqual([1, expect.stringContaining('--allow-deletes')]);
  b.write('new', 'goes up all the same\n');
  await b.sync();
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(Object.keys(textsOf(a))).toEqual(['new', 'one', 'three/deep', 'two']);
  expect(await b.sync('--restore-missing')).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));

  // Another folder in its place, with the state of the first.
  const moved = `${b.folder}-moved`;
  mkdirSync(moved);
  for (const path of ['.cairn', 'two', 'three', 'new']) b.rename(path, `../${moved.split('/').at(-1)}/${path}`);
  rmSync(b.folder, { recursive: true });
  b.rename(`../${moved.split('/').at(-1)}`, '.');
  expect(await b.sync()).toMatchObject({ code: 1, stderr: expect.stringContaining('--allow-deletes') });
  expect(await b.sync('--allow-deletes')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(a.has('one')).toBe(false);
}, 180_000);

test('[SYN-25] a file that is removed while this device leaves it out stays on the hub, and comes back when it takes part again', async () => {
  const files = {
    'n/1': '1\n',
    'n/2': '2\n',
    'n/3': '3\n',
    'n/4': '4\n',
    'p/a': 'a\n',
    'p/b': 'b\n',
    'n/x.log': 'log\n',
  };
  const [a, b] = await pair(files);
  expect(await b.sync('--only', 'n/')).toMatchObject({ code: 0 });
  rmSync(b.at('p'), { recursive: true });
  a.write('p/b', 'b, edited\n');
  await a.sync();
  b.write('.cairn/ignore', '*.log\n');
  expect(await b.sync()).toMatchObject({ code: 0 });
  b.remove('n/x.log');
  // Without a sync in between.
  b.remove('.cairn/ignore');
  const status = await b.sync('status');
  expect(status.stdout).toMatch(/^pull +n\/x\.log$/m);
  expect(await b.sync('--only', '*')).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual({ ...files, 'p/b': 'b, edited\n' });
  expect((await a.sync()).stdout.trim()).toBe('up to date');
  // A file that takes part is deleted as before.
  b.remove('n/x.log');
  await b.sync();
  await a.sync();
  expect(a.has('n/x.log')).toBe(false);
}, 180_000);

test('[SYN-24] a folder in a synced folder that syncs the same vault is left out by the outer one, not copied without end', async () => {
  const [a] = await pair({ x: 'x\n', 'sub/y': 'y\n' });
  const inner = syncedFolder(hub, key, vaultNameOf(a), a.at('sub'));
  for (let round = 0; round < 3; round += 1) {
    expect(await inner.sync()).toMatchObject({ code: 0 });
    expect(await a.sync()).toMatchObject({ code: 1, stderr: expect.stringContaining('sub is not synced') });
  }
  expect(Object.keys(textsOf(a)).filter((path) => !path.includes('.cairn/'))).toEqual([
    'sub/sub/y',
    'sub/x',
    'sub/y',
    'x',
    'y',
  ]);
  rmSync(a.at('sub/.cairn'), { recursive: true });
  expect(await a.sync()).toMatchObject({ code: 0 });
}, 180_000);
