/** Many small files on a slow line: a line that breaks loses little of the work, and a small save goes first. */
import { once } from 'node:events';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { contentsOf, syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const FILES = Object.fromEntries(Array.from({ length: 350 }, (_, at) => [`many/${at}.md`, `file ${at}\n`]));

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** How many changes a request asks for at once; undefined: it is not a pull of changes. */
function pageOf(body: string): number | undefined {
  const { params } = JSON.parse(body) as { params?: { arguments?: { limit?: number; wait_seconds?: number } } };
  const isPull = body.includes('"sync_pull"') && params?.arguments?.wait_seconds === undefined;
  return isPull ? params?.arguments?.limit : undefined;
}

for (const how of ['ends', 'pauses']) {
  test(`[SYN-24] a watch ${how} in the middle of a long push, after the request that is under way`, async () => {
    const relay = await startRelay(hub);
    const [a, b] = await syncedPair(hub, key, { 'first.md': 'first\n' }, { through: relay });
    let pushes = 0;
    const released = new AbortController();
    relay.rules = {
      holds: async ({ body }) => {
        if (!body.includes('"sync_push')) return;
        pushes += 1;
        if (!released.signal.aborted) await once(released.signal, 'abort');
      },
    };
    for (const path of Object.keys(FILES)) b.write(path, `${path} ${'x'.repeat(40_000)}\n`);
    const watcher = b.watch();
    await until(() => pushes === 1, watcher.output);
    const ended = how === 'ends' ? watcher.stop() : b.sync('pause');
    if (how === 'pauses') await ended;
    else await new Promise((resolve) => setTimeout(resolve, 100));
    released.abort();
    if (how === 'ends') expect(await ended).toBe(0);
    else await until(() => watcher.output().includes('paused'), watcher.output);
    expect(pushes).toBe(1);
    expect((await a.sync()).code).toBe(0);
    expect(Object.keys(contentsOf(a.folder)).length).toBeLessThan(Object.keys(FILES).length);
    if (how === 'ends') await b.sync();
    else {
      await b.sync('resume');
      await until(async () => (await a.sync()).code === 0 && a.has('many/349.md'), watcher.output);
      expect(watcher.output()).not.toContain('Trying again');
      await watcher.stop();
    }
    await a.sync();
    expect(textsOf(a)).toEqual(textsOf(b));
    await relay.close();
  }, 90_000);
}

test('[SYN-24] a first pull over a line that keeps breaking goes on where it was', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, FILES, { isShared: false, through: relay });
  // Whatever takes longer than a short answer does not arrive.
  const arrived: string[] = [];
  relay.rules = {
    drops: ({ body }) => (pageOf(body) ?? 0) > 150,
    rewrites: (answer, { body }) => {
      if (pageOf(body) !== undefined) arrived.push(...(answer.match(/many\/\d+\.md/g) ?? []));
      return answer;
    },
  };
  let code = 4;
  for (let syncs = 0; syncs < 10 && code !== 0; syncs += 1) ({ code } = await b.sync());
  expect(code).toBe(0);
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(arrived.toSorted()).toEqual(Object.keys(FILES).toSorted());
  await relay.close();
}, 180_000);

test('[SYN-24, NET-7] a small save goes to the hub before the rest of a long pull', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, { 'first.md': 'first\n' }, { through: relay });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  let isSaved = false;
  let pages = 0;
  relay.rules = {
    holds: async ({ body }) => {
      if (pageOf(body) === undefined) return;
      pages += 1;
      if (pages === 1) b.write('small.md', 'small\n');
      else await until(() => isSaved);
    },
  };
  for (const [path, text] of Object.entries(FILES)) a.write(path, text);
  await a.sync();
  await until(async () => {
    await a.sync();
    return a.has('small.md');
  }, watcher.output);
  expect(Object.keys(contentsOf(b.folder)).length).toBeLessThan(Object.keys(FILES).length);
  isSaved = true;
  await until(() => Object.keys(FILES).every((path) => b.has(path)), watcher.output);
  await watcher.stop();
  expect(await b.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  expect(textsOf(b)).toEqual(textsOf(a));
  await relay.close();
}, 180_000);
