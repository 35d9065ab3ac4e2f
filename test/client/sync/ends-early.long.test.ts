/**
 * A sync that ends in the middle: what it knew only in memory is found again by the next one. In each story the cursor and the base
 * had been stored before, so that nothing else would tell of the path.
 */
import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { keepSave } from '../../support/keep-save.ts';
import { account } from '../../support/mirror.ts';
import { type Relay, startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, textsOf, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
const BEFORE = 'before\n';
const FILES = 40;
/** More than one page of a pull. */
const PAGE_AND_MORE = 150;
const MiB = 2 ** 20;
let key: string;
let relay: Relay;
let a: SyncedFolder;
let b: SyncedFolder;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

beforeEach(async () => {
  relay = await startRelay(hub);
  await begin({ 'x.md': BEFORE });
  return () => relay.close();
});

/** Two devices that have these files since their first sync, whose changes no guard counts. */
async function begin(files: Record<string, string>): Promise<void> {
  const vault = `vault ${randomBytes(4).toString('hex')}`;
  [a, b] = [syncedFolder(relay, key, vault), syncedFolder(hub, key, vault)];
  for (const [path, text] of Object.entries(files)) a.write(path, text);
  await a.sync();
  await b.sync();
}

/** Syncs, and loses the hub where it asks for single paths. */
async function endEarly(...options: string[]): Promise<void> {
  relay.rules = { drops: ({ body }) => body.includes('"paths"') };
  expect((await a.sync(...options)).code).not.toBe(0);
  relay.rules = {};
}

const bothSync = async () => {
  for (const machine of [a, b, a]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
};

test('[SYN-24] a missing file that was to be restored is restored by the next sync', async () => {
  a.remove('x.md');
  await endEarly('--restore-missing');
  await bothSync();
  expect([textsOf(a), textsOf(b)]).toEqual([{ 'x.md': BEFORE }, { 'x.md': BEFORE }]);
});

test('[SYN-24] a rewritten file that was given up is replaced by the next sync', async () => {
  a.write('x.md', 'rewritten\n');
  await endEarly('--restore-rewritten');
  await bothSync();
  expect([textsOf(a), textsOf(b)]).toEqual([{ 'x.md': BEFORE }, { 'x.md': BEFORE }]);
});

test('[SYN-35] deletes of the hub that were confirmed are done or held by the next sync, and never forgotten', async () => {
  const names = Array.from({ length: FILES }, (_, at) => `f${at}.md`);
  await begin({ 'x.md': BEFORE, ...Object.fromEntries(names.map((name) => [name, `${name}\n`])) });
  for (const name of names) b.remove(name);
  await b.sync('--allow-deletes');
  expect((await a.sync()).stderr).toContain('--allow-deletes');
  // Sending it writes the state.
  keepSave(a, { path: 'x.md', text: 'an edit\n', base: BEFORE });
  await endEarly('--allow-deletes');
  expect((await a.sync()).stderr).toContain('--allow-deletes');
  expect(await a.sync('--allow-deletes')).toMatchObject({ code: 0, stderr: '' });
  expect(textsOf(a)).toEqual({ 'x.md': BEFORE });
});

test('[SYN-24] what another device made of a name that was being uploaded comes, after the file here was removed', async () => {
  const isUpload = (body: string) => body.includes('sync_push') && body.length > MiB;
  relay.rules = { holds: ({ body }) => (isUpload(body) ? new Promise(() => undefined) : Promise.resolve()) };
  const watcher = a.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  a.write('large.bin', randomBytes(3 * MiB));
  await until(() => relay.requests.some(({ body }) => isUpload(body)), watcher.output);
  b.write('large.bin', 'of another device\n');
  await b.sync();
  b.write('last.md', 'the pull has passed it\n');
  await b.sync();
  await until(() => a.has('last.md'), watcher.output);
  await watcher.kill();
  relay.rules = {};
  a.remove('large.bin');
  await bothSync();
  expect([a.read('large.bin'), b.read('large.bin')]).toEqual(['of another device\n', 'of another device\n']);
});

test('[SYN-24] a delete that came with the first page is done, after the edit here was taken back', async () => {
  a.write('x.md', 'an edit\n');
  b.remove('x.md');
  await b.sync('--allow-deletes');
  for (let at = 0; at < PAGE_AND_MORE; at += 1) b.write(`f${at}.md`, `${at}\n`);
  await b.sync();
  let pages = 0;
  const isPage = (body: string) => /"limit":\d{2}/.test(body) && body.includes('"brief":true');
  relay.rules = { drops: ({ body }) => isPage(body) && ++pages > 1 };
  expect((await a.sync()).code).not.toBe(0);
  expect(pages).toBeGreaterThan(1);
  relay.rules = {};
  a.write('x.md', BEFORE);
  await bothSync();
  expect([a.has('x.md'), b.has('x.md')]).toEqual([false, false]);
});

test('[SYN-24] a file that the hub kept although it was to be forgotten comes back once no rule leaves it out', async () => {
  a.write('.cairnignore', 'x.md\n');
  await bothSync();
  a.remove('x.md');
  await a.sync();
  relay.rules = { holds: async ({ body }) => expect(body).not.toContain('sync_push') };
  expect((await a.sync('forget', 'x.md')).code).not.toBe(0);
  relay.rules = {};
  a.write('.cairnignore', '');
  await bothSync();
  expect(a.read('x.md')).toBe(BEFORE);
});

test('[SYN-24] an earlier save in another spelling that the hub took, after the file was deleted there, comes here', async () => {
  b.remove('x.md');
  await b.sync('--allow-deletes');
  keepSave(a, { path: 'X.md', text: 'an earlier save\n', base: '' });
  await endEarly();
  await bothSync();
  expect([textsOf(a), textsOf(b)]).toEqual(Array(2).fill({ 'X.md': 'an earlier save\n' }));
});

test('[SYN-24] edits on both sides that a pull alone found are merged by the next sync', async () => {
  await begin({ 'x.md': 'one\ntwo\nthree\nfour\nfive\n' });
  a.write('x.md', 'ONE\ntwo\nthree\nfour\nfive\n');
  b.write('x.md', 'one\ntwo\nthree\nfour\nFIVE\n');
  await b.sync();
  await a.sync('pull');
  await bothSync();
  expect([a.read('x.md'), b.read('x.md')]).toEqual(Array(2).fill('ONE\ntwo\nthree\nfour\nFIVE\n'));
});

test('[SYN-24] a conflict that a pull alone found is on the hub after the next sync', async () => {
  a.write('x.md', 'ours\n');
  b.write('x.md', 'theirs\n');
  await b.sync();
  await a.sync('pull');
  expect((await a.sync()).code).toBe(3);
  expect((await b.sync('status')).stdout).toContain('x.md');
});
