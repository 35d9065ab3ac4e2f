/** Large files on a slow line: what is small does not wait for them, and nothing travels twice. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;
const LARGE = randomBytes(3 * MiB);

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** Two machines on one new vault; requests of the second go through a relay. */
async function pair() {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, { 'first.md': 'first\n' }, { through: relay });
  return { a, b, relay };
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const toolOf = (body: string) => (JSON.parse(body) as { params?: { name?: string } }).params?.name ?? '';

test('[SYN-24, NET-7] small files go up and come down while a large one is on its way to the hub', async () => {
  const { a, b, relay } = await pair();
  const line = gate();
  relay.rules = { holds: ({ body }) => (body.length > 2 * MiB ? line.opened : Promise.resolve()) };
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  b.write('large.bin', LARGE);
  await until(() => relay.requests.some(({ body }) => body.length > 2 * MiB), watcher.output);
  b.write('small.md', 'small\n');
  a.write('other.md', 'other\n');
  await a.sync();
  await until(() => b.has('other.md'), watcher.output);
  await until(async () => {
    await a.sync();
    return a.has('small.md');
  }, watcher.output);
  expect(a.has('large.bin')).toBe(false);
  line.open();
  await until(async () => {
    await a.sync();
    return a.has('large.bin');
  }, watcher.output);
  expect(readFileSync(a.at('large.bin')).equals(LARGE)).toBe(true);
  // An edit of the large file in the moment of its upload is a change like any other.
  expect(relay.requests.filter(({ body }) => body.length > 2 * MiB)).toHaveLength(1);
  await watcher.stop();
  expect(await b.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  await relay.close();
}, 180_000);

test('[SYN-24, SYN-25] a large file that is edited and deleted elsewhere while it is sent', async () => {
  const { a, b, relay } = await pair();
  b.write('large.bin', LARGE);
  b.write('gone.bin', Buffer.concat([LARGE, LARGE]));
  expect(await b.sync()).toMatchObject({ code: 0 });
  await a.sync();
  const line = gate();
  relay.rules = { holds: ({ body }) => (body.length > 2 * MiB ? line.opened : Promise.resolve()) };
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  const before = relay.requests.length;
  b.write('large.bin', Buffer.concat([LARGE, Buffer.from('of b')]));
  await until(() => relay.requests.slice(before).some(({ body }) => body.length > 2 * MiB), watcher.output);
  b.remove('gone.bin');
  a.write('large.bin', Buffer.concat([LARGE, Buffer.from('of a')]));
  await a.sync();
  await until(async () => {
    await a.sync();
    return !a.has('gone.bin');
  }, watcher.output);
  line.open();
  await until(() => /large\.bin has a conflict/.test(watcher.output()), watcher.output);
  await watcher.stop();
  expect(await b.sync('resolve', 'large.bin', '--keep', 'mine')).toMatchObject({ code: 0 });
  await a.sync();
  expect(readFileSync(a.at('large.bin')).subarray(-4).toString()).toBe('of b');
  await relay.close();
}, 180_000);

test('[SYN-24, NET-7] small files go up and come down while a large one is on its way here', async () => {
  const { a, b, relay } = await pair();
  const line = gate();
  relay.rules = { holds: ({ body }) => (body.includes('"large.bin"') ? line.opened : Promise.resolve()) };
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  a.write('large.bin', LARGE);
  await a.sync();
  await until(() => relay.requests.some(({ body }) => body.includes('"large.bin"')), watcher.output);
  a.write('later.md', 'later\n');
  await a.sync();
  b.write('small.md', 'small\n');
  await until(() => b.has('later.md'), watcher.output);
  await until(async () => {
    await a.sync();
    return a.has('small.md');
  }, watcher.output);
  expect(b.has('large.bin')).toBe(false);
  line.open();
  await until(() => b.has('large.bin'), watcher.output);
  await watcher.stop();
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(await b.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  await relay.close();
}, 180_000);

test('[SYN-24] a download that was cut off goes on with the next sync', async () => {
  const { a, b, relay } = await pair();
  a.write('large.bin', LARGE);
  await a.sync();
  relay.rules = { drops: ({ body }) => body.includes('"large.bin"') };
  expect(await b.sync()).toMatchObject({ code: 4 });
  expect(b.has('large.bin')).toBe(false);
  expect((await b.sync('status')).stdout).toMatch(/^pull +large\.bin/);
  relay.rules = {};
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(readFileSync(b.at('large.bin')).equals(LARGE)).toBe(true);
  await relay.close();
}, 180_000);

test('[SYN-24] what a folder pushed does not come back to it, and what another one pushed does', async () => {
  const { a, b, relay } = await pair();
  const answers: string[] = [];
  relay.rules = {
    rewrites: (answer, { body }) => {
      if (toolOf(body) === 'sync_pull') answers.push(answer);
      return answer;
    },
  };
  for (let at = 0; at < 50; at += 1) b.write(`own/${at}.md`, `only of b, ${at}\n`);
  await b.sync();
  a.write('first.md', 'first, of a\n');
  await a.sync();
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(b.read('first.md')).toBe('first, of a\n');
  const came = answers.join('\n');
  expect(came).toContain('first, of a');
  expect(came).not.toContain('only of b');
  await relay.close();
}, 180_000);

test('[SYN-24] files as large as may be go up whatever is in them: zeros, line breaks, escapes', async () => {
  const bytes = 10 * 2 ** 20;
  const files = {
    zeros: Buffer.alloc(bytes),
    breaks: Buffer.alloc(bytes, '\n'),
    escapes: Buffer.alloc(bytes, '\u001b[31m"\\'),
    text: Buffer.alloc(bytes, 'text\n'),
  };
  const [a, b] = await syncedPair(hub, key, files);
  for (const [path, content] of Object.entries(files)) expect(readFileSync(b.at(path)).equals(content)).toBe(true);
  expect(await a.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
});

test('[SYN-24] a large file to which a program keeps writing is sent a few times, its end at once, and others do not wait', async () => {
  const relay = await startRelay(hub);
  const files = { 'log.txt': `${randomBytes(200_000).toString('hex')}\n` };
  const [a, b] = await syncedPair(relay, key, files, { through: hub });
  const watcher = a.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  const sends = () => relay.requests.filter(({ body }) => body.includes('sync_push') && body.length > 300_000).length;
  const before = sends();
  for (let line = 0; line < 150; line += 1) {
    appendFileSync(a.at('log.txt'), `line ${line}\n`);
    if (line === 50) a.write('small.md', 'small\n');
    await sleep(100);
  }
  expect(watcher.output()).toMatch(/pushed +small\.md/);
  // After 0, 1, 3, 7 and 15 seconds.
  expect(sends() - before).toBeLessThanOrEqual(6);
  await until(async () => {
    await b.sync();
    return b.read('log.txt') === a.read('log.txt');
  }, watcher.output);
  await watcher.stop();
  await relay.close();
}, 120_000);
