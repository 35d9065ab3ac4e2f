/** A request that reached the hub while its answer was lost: whatever a person does next, the folder ends as that person left it. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { limits } from '../../../src/limits/service.ts';
import { account } from '../../support/mirror.ts';
import { type Relay, startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, textsOf, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;
let email: string;
let relay: Relay;
let a: SyncedFolder;
let b: SyncedFolder;

beforeAll(async () => {
  ({ mcp_key: key, email } = await account(hub));
});

beforeEach(async () => {
  const vault = `vault ${randomBytes(4).toString('hex')}`;
  relay = await startRelay(hub);
  [a, b] = [syncedFolder(relay, key, vault), syncedFolder(hub, key, vault)];
  // Enough files that single deletes need no word.
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']) a.write(name, `${name}\n`);
  expect(await a.sync()).toMatchObject({ code: 0 });
  await b.sync();
  return () => relay.close();
});

/** Syncs, and no answer to what is pushed arrives. */
async function syncInVain(): Promise<void> {
  relay.rules = { drops: ({ body }) => body.includes('sync_push') };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
}

/** The versions and sides of conflicts on the hub, as text. */
async function exported(): Promise<string> {
  const archive = join(temporaryFolder(), 'archive');
  expect(await hub.cli('export', '--email', email, archive)).toMatchObject({ code: 0 });
  return readFileSync(join(archive, 'vaults.ndjson'), 'utf8');
}

/** Syncs both folders; each then has what the other has, and nothing waits. */
async function settled(): Promise<Record<string, string>> {
  for (const machine of [a, b, a]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect(textsOf(b)).toEqual(textsOf(a));
  return textsOf(a);
}

test('[SYN-25] a file that comes back after a delete whose answer is lost stays', async () => {
  a.remove('one');
  await syncInVain();
  a.write('one', 'one\n');
  expect(await settled()).toMatchObject({ one: 'one\n' });
});

test('[SYN-25] a file that is moved, and back after the answer is lost, stays', async () => {
  a.rename('one', 'folder/moved');
  await syncInVain();
  a.rename('folder/moved', 'one');
  const texts = await settled();
  expect(texts).toMatchObject({ one: 'one\n' });
  expect(Object.keys(texts)).not.toContain('folder/moved');
});

test('[SYN-25] files that are moved, and on or edited after the answer is lost, are where they were left', async () => {
  a.rename('one', 'moved once');
  a.rename('two', 'moved and edited');
  a.rename('three', 'moved and copied back');
  a.rename('four', 'moved and removed');
  await syncInVain();
  a.rename('moved once', 'moved twice');
  a.write('moved and edited', 'two, edited\n');
  a.write('three', 'three\n');
  a.remove('moved and removed');
  expect(await settled()).toEqual({
    'moved twice': 'one\n',
    'moved and edited': 'two, edited\n',
    'moved and copied back': 'three\n',
    three: 'three\n',
    five: 'five\n',
    six: 'six\n',
    seven: 'seven\n',
    eight: 'eight\n',
  });
});

test('[SYN-25] two files that swap their names and swap back after the answer is lost', async () => {
  a.rename('one', 'spare');
  a.rename('two', 'one');
  a.rename('spare', 'two');
  await syncInVain();
  a.rename('one', 'spare');
  a.rename('two', 'one');
  a.rename('spare', 'two');
  expect(await settled()).toMatchObject({ one: 'one\n', two: 'two\n' });
});

test('[SYN-25] each side that is chosen for a conflict is the one that stays, also when the answer is lost', async () => {
  for (const name of ['one', 'two']) {
    a.write(name, `${name} of a\n`);
    b.write(name, `${name} of b\n`);
  }
  await b.sync();
  expect(await a.sync()).toMatchObject({ code: 3 });
  relay.rules = { drops: ({ body }) => /sync_push|sync_resolve/.test(body) };
  expect(await a.sync('resolve', 'one', '--keep', 'mine')).toMatchObject({ code: 4 });
  expect(await a.sync('resolve', 'two', '--keep', 'theirs')).toMatchObject({ code: 4 });
  relay.rules = {};
  expect(await settled()).toMatchObject({ one: 'one of a\n', two: 'two of b\n' });
});

test('[SYN-25] a file that is changed elsewhere after the answer to its push is lost is no conflict', async () => {
  // No text, so it cannot be merged.
  const [ours, theirs] = [Buffer.from([0, 1]), Buffer.from([0, 2])];
  a.write('one', ours);
  await syncInVain();
  await b.sync();
  b.write('one', theirs);
  await b.sync();
  expect(await a.sync()).toMatchObject({ code: 0, stderr: '' });
  expect(a.read('one')).toBe(theirs.toString());
  const { stdout } = await b.sync('status', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ conflict: [], elsewhere: {} });
  await settled();
});

test('[SYN-25] a side that was given up while the hub did not have it does not come back when an answer is lost', async () => {
  a.write('one', 'one of a\n');
  b.write('one', 'one of b\n');
  await b.sync();
  // A pull sends nothing, so the hub does not keep this side.
  expect(await a.sync('pull')).toMatchObject({ code: 3 });
  let pushes = 0;
  relay.rules = {
    drops: ({ body }) => {
      pushes += body.includes('sync_push') ? 1 : 0;
      return pushes === 2;
    },
  };
  expect(await a.sync('resolve', 'one', '--keep', 'theirs')).toMatchObject({ code: 4 });
  relay.rules = {};
  expect(await settled()).toMatchObject({ one: 'one of b\n' });
});

/** Leaves a file that both sides changed in different places: the hub has the side of b, and a has its own. */
async function changeBothSides(): Promise<void> {
  a.write('one', 'first\nsecond\nthird\nfourth\nfifth\n');
  await settled();
  b.write('one', 'first of b\nsecond\nthird\nfourth\nfifth\n');
  await b.sync();
  a.write('one', SIDE_OF_A);
}

const SIDE_OF_A = 'first\nsecond\nthird\nfourth\nfifth of a\n';
const MERGED = 'first of b\nsecond\nthird\nfourth\nfifth of a\n';
const isPush = ({ body }: { readonly body: string }) => body.includes('sync_push');

test('[SYN-25] a merge stays when the answer to its own side is lost', async () => {
  await changeBothSides();
  await syncInVain();
  expect(await settled()).toMatchObject({ one: MERGED });
});

test('[SYN-25] a merge gives way to another device that chose exactly our side in that moment', async () => {
  await changeBothSides();
  relay.rules = {
    async holds(request) {
      if (!isPush(request)) return;
      relay.rules = {};
      b.write('one', SIDE_OF_A);
      await b.sync();
    },
  };
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await settled()).toMatchObject({ one: SIDE_OF_A });
});

test('[SYN-25] a merge gives way to a device that chose our side, also when what we sent never arrived', async () => {
  await changeBothSides();
  relay.rules = { answers: (request) => (isPush(request) ? { status: 503, body: '' } : undefined) };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
  b.write('one', SIDE_OF_A);
  await b.sync();
  expect(await settled()).toMatchObject({ one: SIDE_OF_A });
});

test('[SYN-25] a delete that never arrived undoes no later delete of another device', async () => {
  a.remove('one');
  relay.rules = { answers: (request) => (isPush(request) ? { status: 503, body: '' } : undefined) };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
  a.write('one', 'one\n');
  expect(await settled()).toMatchObject({ one: 'one\n' });
  b.remove('one');
  await b.sync();
  expect(Object.keys(await settled())).not.toContain('one');
});

test('[SYN-25] an edit back to an earlier version that never arrived is no common version of both sides', async () => {
  a.write('one', 'old\nsecond\nthird\n');
  await settled();
  b.write('one', 'new\nsecond\nthird\n');
  await b.sync();
  await settled();
  a.write('one', 'old\nsecond\nthird\n');
  relay.rules = { answers: (request) => (isPush(request) ? { status: 503, body: '' } : undefined) };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
  b.write('one', 'new\nsecond\nthird of b\n');
  await b.sync();
  expect(await settled()).toMatchObject({ one: 'old\nsecond\nthird of b\n' });
}, 120_000);

test('[SYN-25] an edit after a conflict is a version when the other side is chosen', async () => {
  a.write('one', 'one of a\n');
  b.write('one', 'one of b\n');
  await b.sync();
  expect(await a.sync()).toMatchObject({ code: 3 });
  a.write('one', 'one of a, edited\n');
  expect(await a.sync('resolve', 'one', '--keep', 'theirs')).toMatchObject({ code: 0 });
  expect(await settled()).toMatchObject({ one: 'one of b\n' });
  const { stdout } = await a.sync('history', 'one', '--json');
  expect(stdout).toContain(createHash('sha256').update('one of a, edited\n').digest('hex'));
});

test('[SYN-25] a save of a file in conflict that does not reach the hub is kept until it does, also when the file is saved again', async () => {
  a.write('one', 'one of a\n');
  b.write('one', 'one of b\n');
  await b.sync();
  expect(await a.sync()).toMatchObject({ code: 3 });
  const watch = a.watch();
  onTestFinished(async () => void (await watch.kill()));
  await until(() => watch.output().includes('watching'), watch.output);
  // Both sides change again, and the line is cut whenever this one is to be compared.
  const isTold = ({ body }: { readonly body: string }) => /sync_push|sync_merge/.test(body);
  relay.rules = { answers: (asked) => (isTold(asked) ? { status: 502, body: 'no hub' } : undefined) };
  b.write('one', 'one of b, edited\n');
  await b.sync();
  const edit = 'one of a, edited\n';
  a.write('one', edit);
  const told = relay.requests.filter(isTold).length;
  await until(() => relay.requests.filter(isTold).length > told + 1, watch.output);
  // A busy machine may be late with its copy.
  const saves = new Saves(a.at('.cairn'));
  await until(() => saves.list().some((save) => save.read()?.bytes.toString() === edit), watch.output);
  await sleep(limits.clientStillMs);
  a.write('one', 'one of a, edited again\n');
  relay.rules = {};
  const sha256 = createHash('sha256').update(edit).digest('hex');
  await until(async () => (await exported()).includes(sha256), watch.output);
}, 120_000);
