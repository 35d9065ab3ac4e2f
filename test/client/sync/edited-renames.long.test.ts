/** A file or folder renamed on one side and edited on the other becomes one file under its new name, with the edit. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const NAMES = ['f0', 'f1', 'f2', 'f3', 'f4'];
const LINES = (name: string) => [`# ${name}`, 'one', 'two', 'three', 'four', 'five', ''];
const files = Object.fromEntries(NAMES.map((name) => [`one/${name}.md`, LINES(name).join('\n')]));
const edited = (name: string, at: number, by: string) => LINES(name).with(at, by).join('\n');

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const hashOf = ({ at }: SyncedFolder, path: string) => sha(readFileSync(at(path)));

async function syncAll(...machines: SyncedFolder[]): Promise<void> {
  for (const machine of machines) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
}

test.each([
  ['the renaming device first', true],
  ['the editing device first', false],
])(
  '[SYN-28] a folder renamed here, its files edited there: %s',
  async (_, isRenameFirst) => {
    const [a, b] = await syncedPair(hub, key, files);
    a.rename('one', 'two');
    for (const name of NAMES) b.write(`one/${name}.md`, edited(name, 1, 'edited by b'));
    await syncAll(...(isRenameFirst ? [a, b, a] : [b, a, b, a]));
    const wanted = Object.fromEntries(NAMES.map((name) => [`two/${name}.md`, edited(name, 1, 'edited by b')]));
    expect(textsOf(a)).toEqual(wanted);
    expect(textsOf(b)).toEqual(wanted);
    expect((await b.sync()).stdout.trim()).toBe('up to date');
    expect((await a.sync('status')).stdout.trim()).toBe('up to date');
    const history = await a.call('sync_history', '--json', '--path=two/f0.md', `--vault_id=${vaultIdOf(a)}`);
    expect(history.stdout).toContain('one/f0.md');
  },
  120_000,
);

const vaultIdOf = ({ read }: SyncedFolder) => (JSON.parse(read('.cairn/state.json')) as { vault_id: string }).vault_id;

test('[SYN-28] renamed and then edited there, edited here elsewhere in the file: both edits are in one file', async () => {
  const [a, b] = await syncedPair(hub, key, files);
  a.rename('one', 'two');
  await syncAll(a);
  a.write('two/f1.md', edited('f1', 5, 'edited by a'));
  await syncAll(a);
  b.write('one/f1.md', edited('f1', 1, 'edited by b'));
  await syncAll(b, a);
  const both = LINES('f1').with(5, 'edited by a').with(1, 'edited by b').join('\n');
  expect(textsOf(b)).toMatchObject({ 'two/f1.md': both });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(Object.keys(textsOf(a)).filter((path) => path.startsWith('one/'))).toEqual([]);
}, 120_000);

test('[SYN-28] the same lines on both sides are one conflict, under the new name', async () => {
  const [a, b] = await syncedPair(hub, key, files);
  a.rename('one', 'two');
  await syncAll(a);
  a.write('two/f1.md', edited('f1', 1, 'edited by a'));
  await syncAll(a);
  b.write('one/f1.md', edited('f1', 1, 'edited by b'));
  expect(await b.sync()).toMatchObject({ code: 3, stderr: expect.stringContaining('two/f1.md has a conflict') });
  expect(b.read('two/f1.md')).toBe(edited('f1', 1, 'edited by b'));
  expect(await b.sync('resolve', 'two/f1.md', '--keep', 'mine')).toMatchObject({ code: 0 });
  await syncAll(a, b);
  expect(textsOf(a)).toEqual(textsOf(b));
  expect(textsOf(a)).toMatchObject({ 'two/f1.md': edited('f1', 1, 'edited by b') });
}, 120_000);

test('[SYN-28] a rename that reached the hub as delete and create is followed too', async () => {
  const [a, b] = await syncedPair(hub, key, files);
  const text = a.read('one/f2.md');
  // A slow move to another disk and back: the file is gone in one sync, and there in the next.
  a.write('two/f2.md', text);
  await syncAll(a);
  a.remove('one/f2.md');
  await syncAll(a);
  b.write('one/f2.md', edited('f2', 2, 'edited by b'));
  await syncAll(b, a);
  expect(textsOf(a)['two/f2.md']).toBe(edited('f2', 2, 'edited by b'));
  expect(a.has('one/f2.md')).toBe(false);
  expect(textsOf(b)).toEqual(textsOf(a));
}, 120_000);

test('[SYN-28] both sides rename a file alike, and one edits it', async () => {
  const [a, b] = await syncedPair(hub, key, files);
  for (const machine of [a, b]) machine.rename('one/f3.md', 'three.md');
  a.write('other.md', 'other\n');
  await syncAll(a);
  a.write('three.md', edited('f3', 3, 'edited by a'));
  await syncAll(a, b, a);
  expect(textsOf(a)).toMatchObject({ 'three.md': edited('f3', 3, 'edited by a') });
  expect(textsOf(b)).toEqual(textsOf(a));
}, 120_000);

test('[SYN-28, SYN-25] the answer to a rename is lost: the edit still follows', async () => {
  const relay = await startRelay(hub);
  const [b, a] = await syncedPair(hub, key, files, { through: relay });
  b.write('one/f4.md', edited('f4', 4, 'edited by b'));
  await syncAll(b);
  a.rename('one', 'two');
  relay.rules = { drops: ({ body }) => body.includes('from_path') };
  expect((await a.sync()).code).not.toBe(0);
  relay.rules = {};
  await syncAll(a, b, a);
  expect(textsOf(a)['two/f4.md']).toBe(edited('f4', 4, 'edited by b'));
  expect(Object.keys(textsOf(a)).filter((path) => path.startsWith('one/'))).toEqual([]);
  expect(textsOf(b)).toEqual(textsOf(a));
  await relay.close();
}, 120_000);

test('[SYN-28] long files: only the edit travels', async () => {
  const [same, other] = [randomBytes(300_000), randomBytes(300_000)];
  const relay = await startRelay(hub);
  const [b, a] = await syncedPair(hub, key, { 'one/same.bin': same, 'one/edited.bin': other }, { through: relay });
  const next = randomBytes(300_000);
  b.write('one/edited.bin', next);
  await syncAll(b);
  a.rename('one', 'two');
  let received = 0;
  relay.rules = {
    rewrites(answer) {
      received += answer.length;
      return answer;
    },
  };
  await syncAll(a);
  expect(received).toBeLessThan(600_000);
  await syncAll(b);
  for (const machine of [a, b]) expect(hashOf(machine, 'two/edited.bin')).toBe(sha(next));
  expect(Object.keys(textsOf(b))).toEqual(['two/edited.bin', 'two/same.bin']);
  expect(a.has('one')).toBe(false);
  await relay.close();
}, 120_000);

test('[SYN-28] a pull without a push renames nothing on the hub', async () => {
  const [a, b] = await syncedPair(hub, key, files);
  b.write('one/f0.md', edited('f0', 1, 'edited by b'));
  await syncAll(b);
  a.rename('one/f0.md', 'zero.md');
  expect(await a.sync('pull')).toMatchObject({ code: 0 });
  expect((await b.sync()).stdout.trim()).toBe('up to date');
}, 120_000);

test('[SYN-28] two watches: a folder is renamed on one while its files are edited on the other', async () => {
  const [a, b] = await syncedPair(hub, key, files);
  const watches = [a.watch(), b.watch()];
  await until(() => watches.every((watch) => watch.output().includes('watching')));
  for (const name of NAMES) b.write(`one/${name}.md`, edited(name, 1, 'edited by b'));
  a.rename('one', 'two');
  const wanted = Object.fromEntries(NAMES.map((name) => [`two/${name}.md`, edited(name, 1, 'edited by b')]));
  const isThere = (machine: SyncedFolder) => JSON.stringify(textsOf(machine)) === JSON.stringify(wanted);
  await until(
    () => [a, b].every(isThere),
    () => JSON.stringify([textsOf(a), textsOf(b), watches.map((watch) => watch.output())]),
  );
  for (const watch of watches) await watch.stop();
}, 120_000);
