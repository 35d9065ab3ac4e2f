/** Moves and renames of files and folders are renames on the hub; permissions and many small files go along. */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, textsOf } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;
const vaultOfFolder = ({ read }: SyncedFolder) =>
  (JSON.parse(read('.cairn/state.json')) as { vault_id: string }).vault_id;

test('[SYN-7, CLI-2] a moved file and a renamed folder keep their history and send no bytes', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(relay, key, vault), syncedFolder(hub, key, vault)];
  a.write('old/one.md', 'the bytes of one\n');
  a.write('old/deep/two.md', 'the bytes of two\n');
  a.write('three.md', 'the bytes of three\n');
  a.write('swap-a', 'the bytes of a\n');
  a.write('swap-b', 'the bytes of b\n');
  await a.sync();
  await b.sync();
  a.rename('old', 'new');
  a.rename('three.md', 'new/4.md');
  a.rename('swap-a', 'swap-tmp');
  a.rename('swap-b', 'swap-a');
  a.rename('swap-tmp', 'swap-b');
  const before = relay.requests.length;
  const met = await a.sync();
  expect([met.code, met.stdout]).toEqual([0, expect.stringMatching(/renamed +new\/one\.md +\(it was old\/one\.md\)/)]);
  const sent = relay.requests.slice(before).map(({ body }) => body);
  expect(sent.filter((body) => /the bytes of (one|two|three)/.test(body))).toEqual([]);
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(b.has('old')).toBe(false);
  const { stdout } = await a.call('sync_history', '--json', '--path=new/4.md', `--vault_id=${vaultOfFolder(a)}`);
  expect(stdout).toContain('three.md');
  await relay.close();
}, 180_000);

test('[CLI-2] a folder that is renamed or copied elsewhere brings no long content a second time', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(relay, key, vault)];
  for (const name of ['one', 'two', 'three']) a.write(`old/${name}.bin`, randomBytes(200_000));
  await a.sync();
  expect(await b.sync()).toMatchObject({ code: 0 });
  a.rename('old', 'new');
  a.write('copy/one.bin', readFileSync(a.at('new/one.bin')));
  expect(await a.sync()).toMatchObject({ code: 0 });
  let received = 0;
  relay.rules = {
    rewrites(answer) {
      received += answer.length;
      return answer;
    },
  };
  expect(await b.sync()).toMatchObject({ code: 0, stderr: '' });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(received).toBeLessThan(50_000);
  await relay.close();
}, 180_000);

test('[SYN-28] a file that was moved here and edited elsewhere: the edit follows, and both folders are equal', async () => {
  const vault = newVault();
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(hub, key, vault)];
  for (const name of ['x', 'y', 'z', 'w']) a.write(name, `${name}\n`);
  await a.sync();
  await b.sync();
  a.write('x', 'x, edited\n');
  await a.sync();
  b.rename('x', 'x.moved');
  await b.sync();
  await a.sync();
  await b.sync();
  expect(textsOf(a)).toEqual(textsOf(b));
  expect(textsOf(a)).toEqual({ 'x.moved': 'x, edited\n', y: 'y\n', z: 'z\n', w: 'w\n' });
}, 180_000);

test('[CLI-2] a new spelling here in the moment of a change there: the push meets it, and one file is left', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(relay, key, vault)];
  a.write('f5', 'first\n');
  a.write('other', 'other\n');
  await a.sync();
  await b.sync();
  a.write('f5', 'of a\n');
  b.rename('f5', 'F5');
  b.write('F5', 'of b\n');
  // Between the pull of b and its push a is synced.
  let isFirst = true;
  relay.rules = {
    holds: async ({ body }) => {
      if (!isFirst || !body.includes('sync_push')) return;
      isFirst = false;
      await a.sync();
    },
  };
  expect(await b.sync()).toMatchObject({ code: 3 });
  expect(textsOf(b)).toEqual({ f5: 'of b\n', other: 'other\n' });
  expect(await b.sync('resolve', 'f5', '--keep', 'mine')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual(textsOf(b));
  await relay.close();
}, 180_000);

test('[CLI-2] the executable bit goes along, alone as well, and stays under an edit elsewhere', async () => {
  const vault = newVault();
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(hub, key, vault)];
  const mode = (machine: SyncedFolder, path: string) => statSync(machine.at(path)).mode & 0o111;
  a.write('run.sh', '#!/bin/sh\n');
  a.write('later.sh', '#!/bin/sh\n# later\n');
  chmodSync(a.at('run.sh'), 0o755);
  await a.sync();
  await b.sync();
  expect([mode(b, 'run.sh'), mode(b, 'later.sh')]).toEqual([0o111, 0]);
  chmodSync(a.at('later.sh'), 0o755);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(mode(b, 'later.sh')).toBe(0o111);
  b.write('run.sh', '#!/bin/sh\necho\n');
  await b.sync();
  await a.sync();
  expect([a.read('run.sh'), mode(a, 'run.sh')]).toEqual(['#!/bin/sh\necho\n', 0o111]);
  expect((await a.sync()).stdout.trim()).toBe('up to date');
  // Set here while both sides edit the file, in different places.
  const body = ['#!/bin/sh', 'one', 'two', 'three', 'four', ''];
  for (const name of ['ours.sh', 'theirs.sh']) a.write(name, body.join('\n'));
  await a.sync();
  await b.sync();
  for (const name of ['ours.sh', 'theirs.sh']) {
    a.write(name, body.with(1, 'one of a').join('\n'));
    b.write(name, body.with(4, 'four of b').join('\n'));
  }
  chmodSync(a.at('theirs.sh'), 0o755);
  chmodSync(b.at('ours.sh'), 0o755);
  chmodSync(a.at('later.sh'), 0o644);
  b.write('later.sh', '#!/bin/sh\n# edited\n');
  for (const machine of [a, b, a, b]) expect(await machine.sync()).toMatchObject({ code: 0 });
  for (const machine of [a, b]) {
    expect([mode(machine, 'ours.sh'), mode(machine, 'theirs.sh')]).toEqual([0o111, 0o111]);
    expect([machine.read('later.sh'), mode(machine, 'later.sh')]).toEqual(['#!/bin/sh\n# edited\n', 0]);
    expect(machine.read('ours.sh')).toBe(body.with(1, 'one of a').with(4, 'four of b').join('\n'));
  }
}, 120_000);

test('[SYN-23] many small files go up in few calls under the default rate limit, and are summed up in one line', async () => {
  const limited = await startHub({ env: { CAIRN_RATE_LIMIT: '600' } });
  try {
    const { mcp_key: own } = await account(limited);
    const relay = await startRelay(limited);
    const vault = newVault();
    const [a, b] = [syncedFolder(relay, own, vault), syncedFolder(limited, own, vault)];
    for (let at = 0; at < 2500; at += 1) a.write(`d${at % 50}/f${at}`, `${at} ${'x'.repeat(100)}`);
    const met = await a.sync();
    expect([met.code, met.stdout]).toEqual([0, expect.stringMatching(/^pushed +2,500 files, [\d.]+ KiB\n$/)]);
    expect(relay.requests.length).toBeLessThan(20);
    expect((await b.sync()).stdout).toMatch(/^pulled +2,500 files/);
    expect(textsOf(b)).toEqual(textsOf(a));
    await relay.close();
  } finally {
    await limited.stop();
  }
}, 180_000);
