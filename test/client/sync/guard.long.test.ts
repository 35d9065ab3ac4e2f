/** The guard in time: what deletes or rewrites most of a folder, at once or slowly, is stopped on either side. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { type SyncedFolder, syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const FOLDERS = 10;
const FILES = 10;

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const START = Object.fromEntries(
  Array.from({ length: FOLDERS * FILES }, (_, at) => [`d${Math.floor(at / FILES)}/f${at % FILES}`, `${at}\n`]),
);
const encrypted = (path: string) => `ENCRYPTED ${path}\n`;
const countOf = (folder: SyncedFolder) => Object.keys(textsOf(folder)).length;
const rewrittenIn = (folder: SyncedFolder) =>
  Object.values(textsOf(folder)).filter((text) => text.startsWith('ENCRYPTED')).length;

test('[SYN-35] a slow rm -rf under a watch stops at half of the folder, and one command brings everything back', async () => {
  const [a, b] = await syncedPair(hub, key, START);
  const watcher = a.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    for (let file = 0; file < FILES; file += 1) a.remove(`d${folder}/f${file}`);
    const isThrough = () => watcher.output().includes('--allow-deletes') || watcher.output().includes(`d${folder}/f9`);
    await until(isThrough, watcher.output);
  }
  await until(() => watcher.output().includes('--restore-missing'), watcher.output);
  a.write('other', 'goes on\n');
  await until(async () => (await b.sync()).code === 0 && b.has('other'), watcher.output);
  expect(countOf(b) - 1).toBeGreaterThanOrEqual((FOLDERS * FILES) / 2);
  expect(await a.sync('status')).toMatchObject({ code: 1, stderr: expect.stringContaining('--allow-deletes') });
  expect(await a.sync('--restore-missing')).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual(textsOf(b));
  a.write('last', 'the watch has heard of it\n');
  await until(async () => (await b.sync()).code === 0 && b.has('last'), watcher.output);
  expect(await watcher.stop()).toBe(0);
}, 120_000);

test('[SYN-35] a mass overwrite under a watch is held, the rest goes on; it is sent or given up by a word', async () => {
  const [a, b] = await syncedPair(hub, key, START);
  const watcher = a.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  for (const path of Object.keys(START)) a.write(path, encrypted(path));
  await until(() => watcher.output().includes('--allow-rewrites'), watcher.output);
  // A second pass: the first one stood still long enough to be kept as a save of each file.
  await sleep(2000);
  for (const path of Object.keys(START)) a.write(path, encrypted(`${path} again`));
  a.write('new', 'goes on\n');
  await until(async () => (await b.sync()).code === 0 && b.has('new'), watcher.output);
  a.write('newer', 'goes on\n');
  await until(async () => (await b.sync()).code === 0 && b.has('newer'), watcher.output);
  expect(rewrittenIn(b)).toBeLessThanOrEqual((FOLDERS * FILES) / 2);
  const status = await a.sync('status');
  expect(status).toMatchObject({ code: 1, stderr: expect.stringMatching(/--allow-rewrites.*--restore-rewritten/) });
  await watcher.stop();
  expect(await a.sync()).toMatchObject({ code: 1 });
  const given = await a.sync('--restore-rewritten', '--json');
  expect(given).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual(textsOf(b));
  const { events } = JSON.parse(given.stdout) as { events: { verb: string; note?: string; path: string }[] };
  const kept = events.find(({ note }) => note?.includes('.cairn/replaced') === true);
  expect(a.read(`${kept?.note?.replace('the one here is in ', '') ?? ''}/${kept?.path ?? ''}`)).toBe(
    encrypted(`${kept?.path ?? ''} again`),
  );
  for (const path of Object.keys(START)) a.write(path, encrypted(`${path}, meant`));
  expect(await a.sync()).toMatchObject({ code: 1 });
  expect(await a.sync('--allow-rewrites')).toMatchObject({ code: 0 });
  // The other device asks as well.
  const asked = await b.sync();
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringMatching(/--allow-rewrites.*--send-back/) });
  expect(await b.sync('--allow-rewrites')).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));
}, 120_000);

test('[SYN-35] a device that receives mass deletes holds them, and sends the files back by a word; a rename is none', async () => {
  const [a, b] = await syncedPair(hub, key, START);
  for (const path of Object.keys(START)) a.rename(path, `moved/${path}`);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));
  b.remove('moved/d0/f0');
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  for (const path of Object.keys(START)) if (a.has(`moved/${path}`)) a.remove(`moved/${path}`);
  a.write('other', 'goes on\n');
  expect(await a.sync('--allow-deletes')).toMatchObject({ code: 0 });
  const watcher = b.watch();
  await until(() => watcher.output().includes('--send-back') && b.has('other'), watcher.output);
  const before = countOf(b);
  expect(before).toBe(FOLDERS * FILES);
  b.write('mine', 'goes on\n');
  await until(async () => (await a.sync()).code === 0 && a.has('mine'), watcher.output);
  await sleep(1000);
  expect(await b.sync('status')).toMatchObject({ code: 1, stderr: expect.stringContaining('--send-back') });
  expect(await b.sync('--send-back')).toMatchObject({ code: 0 });
  b.write('last', 'the watch has heard of it\n');
  await until(async () => (await a.sync()).code === 0 && a.has('last'), watcher.output);
  expect(await watcher.stop()).toBe(0);
  expect(textsOf(a)).toEqual(textsOf(b));
  expect(countOf(a)).toBe(FOLDERS * FILES + 2);
}, 120_000);
