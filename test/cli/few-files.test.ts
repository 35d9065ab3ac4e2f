/** What a command loads before it does anything: found and read one by one, files are most of the cost of a start. */
import { readdirSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCairn, startHub } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The files that a command loads, as Node.js itself reports them. */
async function loadedBy(args: readonly string[], code = 0): Promise<string[]> {
  const folder = temporaryFolder();
  const env = { NODE_V8_COVERAGE: folder, CAIRN_DATA: join(temporaryFolder(), 'data') };
  expect((await runCairn(args, env)).code).toBe(code);
  return readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] };
    return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  });
}

/** What backups of repositories and imports of other tools need, which is a third of a start. */
const ofClient =
  /\/packed-hub-client|\/node_modules\/(?:age-encryption|@noble\/(?:curves|post-quantum)|csv-parse|yauzl)\//;

test.each([
  [['--version'], 2],
  [['--help'], 2],
  [['tasks', '--help'], 5],
  [['sync', 'status', '--help'], 20],
  [['backups', 'list', '--help'], 20],
])('[CLI-7] cairn %j loads at most %i files, and no package file by file', async (args, most) => {
  const loaded = await loadedBy(args);
  expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([]);
  expect(loaded.length).toBeLessThanOrEqual(most);
});

test('[CLI-7] what loads the service finds its modules in few files', async () => {
  const loaded = await loadedBy(['account', 'create', '--email', 'ada@example.org']);
  const own = loaded.filter((url) => !url.includes('/node_modules/'));
  expect(own.some((url) => url.endsWith('/packed-hub-service.js'))).toBe(true);
  expect(own.length).toBeLessThanOrEqual(20);
  expect(loaded.filter((url) => ofClient.test(url))).toEqual([]);
});

test('[CLI-7] the list of all commands loads no service', async () => {
  const loaded = await loadedBy(['account', '--help'], 2);
  expect(loaded.filter((url) => /\/packed-hub-(?:service|library)\.js$/.test(url))).toEqual([]);
});

test('[CLI-7] a mistake in a packed command leads to any command', async () => {
  const said = await runCairn(['tasks', 'addd', 'x'], {});
  expect([said.code, said.stderr]).toEqual([2, expect.stringContaining('did you mean `cairn tasks add`?')]);
  expect((await runCairn(['accout', 'list'], {})).stderr).toContain('did you mean `cairn account list`?');
});

/** Node.js 20 keeps none. */
test.runIf('flushCompileCache' in module)('[CLI-7] a hub that is ready has kept its compiled modules', async () => {
  const cache = temporaryFolder();
  const hub = await startHub({ env: { CACHE_DIRECTORY: cache } });
  try {
    const kept = readdirSync(join(cache, 'compiled'), { recursive: true, withFileTypes: true });
    expect(kept.filter((entry) => entry.isFile()).length).toBeGreaterThan(3);
  } finally {
    await hub.stop();
  }
});
