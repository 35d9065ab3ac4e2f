/** An edit that was taken back before it was sent: the file stays as its user left it, and the edit is an earlier version. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { limits } from '../../../src/limits/service.ts';
import { keepSave } from '../../support/keep-save.ts';
import { account } from '../../support/mirror.ts';
import { type Relay, startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
const BEFORE = 'before\n';
const EDIT = 'an edit\n';
let key: string;
let relay: Relay;
let a: SyncedFolder;
let b: SyncedFolder;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

beforeEach(async () => {
  const vault = `vault ${randomBytes(4).toString('hex')}`;
  relay = await startRelay(hub);
  [a, b] = [syncedFolder(relay, key, vault), syncedFolder(hub, key, vault)];
  a.write('x.md', BEFORE);
  await a.sync();
  await b.sync();
  return () => relay.close();
});

function keep(text: string): void {
  keepSave(a, { path: 'x.md', text, base: BEFORE });
}

/** The file here stays as it is, and waits for a choice. */
async function expectConflict(): Promise<void> {
  await a.sync();
  expect(a.read('x.md')).toBe(BEFORE);
  expect((await a.sync('status')).stdout).toContain('conflict');
}

async function expectTakenBack(): Promise<void> {
  for (const machine of [a, b, a]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect([a.read('x.md'), b.read('x.md')]).toEqual([BEFORE, BEFORE]);
  const { stdout } = await b.sync('history', 'x.md');
  expect(stdout).toContain(`${EDIT.length} B`);
}

test('[SYN-25] an edit that was taken back before it was sent stays taken back', async () => {
  keep(EDIT);
  await expectTakenBack();
});

test('[SYN-25] an edit that was taken back stays taken back, also when the answer to it is lost', async () => {
  keep(EDIT);
  relay.rules = { drops: ({ body }) => body.includes('sync_push') };
  await a.sync();
  relay.rules = {};
  expect(a.read('x.md')).toBe(BEFORE);
  await expectTakenBack();
});

test('[SYN-25] an edit that was taken back before it was sent never takes the place of what stands, for another device', async () => {
  keep(EDIT);
  relay.rules = { drops: ({ body }) => body.includes('sync_push') };
  await a.sync();
  relay.rules = {};
  await b.sync();
  expect(b.read('x.md')).toBe(BEFORE);
  await expectTakenBack();
});

test('[SYN-25] an edit that was taken back is a version also where another device made the same one, which stays', async () => {
  keep(EDIT);
  b.write('x.md', EDIT);
  await b.sync();
  for (const machine of [a, b]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect([a.read('x.md'), b.read('x.md')]).toEqual([EDIT, EDIT]);
});

test('[SYN-25] a new file that was removed before it was sent removes no file that another device made with the same bytes', async () => {
  keepSave(a, { path: 'new.md', text: EDIT, base: '' });
  b.write('new.md', EDIT);
  await b.sync();
  for (const machine of [a, b]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect([a.read('new.md'), b.read('new.md')]).toEqual([EDIT, EDIT]);
});

const THEIRS = `${EDIT.trimEnd()} of another device\n`;

/** Syncs; the hub receives what is pushed, and its answer is lost. */
async function syncInVain(): Promise<void> {
  relay.rules = { drops: ({ body }) => body.includes('sync_push') };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
}

/** Syncs; the hub receives nothing that is pushed. */
async function syncCutOff(): Promise<void> {
  relay.rules = { answers: ({ body }) => (body.includes('sync_push') ? { status: 503, body: '' } : undefined) };
  expect(await a.sync()).toMatchObject({ code: 4 });
  relay.rules = {};
}

/** Both folders have this at the end, and nothing waits. */
async function expectBoth(text: string | undefined): Promise<void> {
  for (const machine of [a, b, a]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect([a, b].map((machine) => (machine.has('x.md') ? machine.read('x.md') : undefined))).toEqual([text, text]);
}

/** The other device takes what the hub has, and makes its own version of it. */
async function changeElsewhere(text: string | undefined, onto = EDIT): Promise<void> {
  await b.sync();
  expect(b.read('x.md')).toBe(onto);
  if (text === undefined) b.remove('x.md');
  else b.write('x.md', text);
  expect(await b.sync('--allow-deletes')).toMatchObject({ code: 0 });
}

test.each(['sync', 'pull'])(
  '[SYN-25] an edit that was taken back after its answer was lost is a conflict with what another device made of it: %s',
  async (command) => {
    a.write('x.md', EDIT);
    await syncInVain();
    a.write('x.md', BEFORE);
    await changeElsewhere(THEIRS);
    await (command === 'pull' ? a.sync('pull') : a.sync());
    expect(a.read('x.md')).toBe(BEFORE);
    expect((await a.sync('status')).stdout).toContain('conflict');
  },
);

test.each(['sync', 'pull'])(
  '[SYN-25] an edit whose answer was lost gives way to what was made of it: %s',
  async (command) => {
    a.write('x.md', EDIT);
    await syncInVain();
    await changeElsewhere(THEIRS);
    expect(await (command === 'pull' ? a.sync('pull') : a.sync())).toMatchObject({ code: 0, stderr: '' });
    expect(a.read('x.md')).toBe(THEIRS);
    await expectBoth(THEIRS);
  },
);

test('[SYN-25] an edit that the hub never received, and that was taken back, gives way to one of another device', async () => {
  a.write('x.md', EDIT);
  await syncCutOff();
  a.write('x.md', BEFORE);
  await changeElsewhere(THEIRS, BEFORE);
  await expectBoth(THEIRS);
});

test('[SYN-25] a file that was taken back after its answer was lost stays when another device deletes what it was sent', async () => {
  a.write('x.md', EDIT);
  await syncInVain();
  a.write('x.md', BEFORE);
  await changeElsewhere(undefined);
  await expectBoth(BEFORE);
});

test('[SYN-25] a file that was taken back after its answer was lost has the name that another device gave it since', async () => {
  a.write('x.md', EDIT);
  await syncInVain();
  a.write('x.md', BEFORE);
  await b.sync();
  b.rename('x.md', 'y.md');
  await b.sync();
  await expectBoth(undefined);
  expect([a.read('y.md'), b.read('y.md')]).toEqual([BEFORE, BEFORE]);
});

test('[SYN-25] an edit whose answer was lost is not sent over another device that took it back', async () => {
  a.write('x.md', EDIT);
  await syncInVain();
  await changeElsewhere(BEFORE);
  await expectBoth(BEFORE);
});

test('[SYN-25] a file that came back after the answer to its delete was lost is a conflict with one that another device made', async () => {
  a.remove('x.md');
  relay.rules = { drops: ({ body }) => body.includes('sync_push') };
  expect(await a.sync('--allow-deletes')).toMatchObject({ code: 4 });
  relay.rules = {};
  a.write('x.md', BEFORE);
  await b.sync();
  expect(b.has('x.md')).toBe(false);
  b.write('x.md', THEIRS);
  await b.sync();
  await expectConflict();
});

test('[SYN-25] a file that was made again as it once was is a conflict with one that another device made', async () => {
  await changeElsewhere(undefined, BEFORE);
  await a.sync();
  expect(a.has('x.md')).toBe(false);
  a.write('x.md', BEFORE);
  // The hub gets the other one while this one is sent.
  relay.rules = {
    async holds({ body }) {
      if (!body.includes('sync_push')) return;
      relay.rules = {};
      b.write('x.md', THEIRS);
      await b.sync();
    },
  };
  await expectConflict();
});

test('[SYN-25] a large file that was taken back after its answer was lost is a conflict with what another device made of it', async () => {
  const [before, edit, theirs] = [1, 2, 3].map((byte) => Buffer.alloc(limits.fileBytesMax + 1, byte)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  a.write('large', before);
  await a.sync();
  a.write('large', edit);
  await syncInVain();
  a.write('large', before);
  await b.sync();
  b.write('large', theirs);
  await b.sync();
  await a.sync();
  expect(readFileSync(a.at('large')).equals(before)).toBe(true);
  expect((await a.sync('status')).stdout).toContain('conflict');
});

test('[SYN-25] an edit that was taken back under a watch, while the hub was away, stays taken back', async () => {
  const watch = a.watch();
  onTestFinished(async () => {
    await watch.kill();
  });
  await until(() => watch.output().includes('watching'), watch.output);
  relay.rules = { answers: () => ({ status: 503, body: '' }) };
  a.write('x.md', EDIT);
  await until(() => new Saves(a.at('.cairn')).list().length > 0, watch.output);
  a.write('x.md', BEFORE);
  // The watch has looked at that too.
  await sleep(2 * limits.clientStillMs);
  relay.rules = {};
  await until(() => new Saves(a.at('.cairn')).list().length === 0, watch.output);
  await watch.stop();
  await expectTakenBack();
});
