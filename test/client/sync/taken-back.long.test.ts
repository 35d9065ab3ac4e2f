/** An edit that was taken back before it was sent: the file stays as its user left it, and the edit is an earlier version. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { limits } from '../../../src/limits/service.ts';
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

/** As a watch keeps a save while a sync is slow. */
function keep(text: string): void {
  const bytes = Buffer.from(text);
  const content = { bytes, sha256: sha256Of(bytes), executable: undefined, modifiedMs: Date.now() };
  new Saves(a.at('.cairn')).keep('x.md' as FolderPath, content, sha256Of(Buffer.from(BEFORE)));
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
  const bytes = Buffer.from(EDIT);
  const content = { bytes, sha256: sha256Of(bytes), executable: undefined, modifiedMs: Date.now() };
  new Saves(a.at('.cairn')).keep('new.md' as FolderPath, content, '');
  b.write('new.md', EDIT);
  await b.sync();
  for (const machine of [a, b]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect([a.read('new.md'), b.read('new.md')]).toEqual([EDIT, EDIT]);
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
