/** cairn find, as a user types it. */
import { beforeAll, expect, test } from 'vitest';
import { callTool } from '../support/gateway.ts';
import { runCairn } from '../support/hub.ts';
import { newDevice } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let env: Record<string, string>;

beforeAll(async () => {
  const device = await newDevice(hub, 'laptop');
  await device.push('notes/garden.md', '# Garden\n\nSaffron needs sun.\n');
  await callTool(hub, 'create_task', { content: 'Order saffron bulbs' }, device.key);
  env = { CAIRN_SERVER: hub.url, CAIRN_KEY: device.key, XDG_CONFIG_HOME: temporaryFolder() };
});

const lines = async (...args: string[]) => (await runCairn(['find', ...args], env)).stdout.trimEnd().split('\n');

test('[CLI-1, FIND-4] a table of kind, title, place and the numbered line; words need no quotes', async () => {
  const [head, ...rows] = await lines('needs', 'saffron');
  expect(head).toMatch(/^KIND +TITLE +WHERE +TEXT$/);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatch(/^file +garden\.md +\S.*notes\/garden\.md +3: Saffron needs sun\.$/);
  expect((await lines('saffron', '--in', 'tasks'))[1]).toContain('Order saffron bulbs');
  expect((await lines('saffron', '--limit', '1')).at(-1)).toMatch(/^1 of 2 results: continue with --cursor \d+-1$/);
  expect(JSON.parse((await lines('saffron', '--json')).join(''))).toMatchObject({
    total: 2,
    counts: { task: 1, file: 1 },
  });
});

test('[CLI-1, FIND-4] a word with a hyphen leaves out, and a phrase is typed in quotes within quotes', async () => {
  const leftOut = 'What has “bulbs” is left out, by the hyphen. To find it, put it in quotes.';
  expect((await lines('saffron', '-bulbs')).slice(1)).toEqual([expect.stringMatching(/^file /), leftOut]);
  expect((await lines('-bulbs', '--limit', '5', 'saffron')).slice(1, -1)).toEqual([expect.stringMatching(/^file /)]);
  expect((await lines('"saffron bulbs"')).slice(1)).toEqual([expect.stringMatching(/^task /)]);
  expect(await lines('"bulbs saffron"')).toEqual([expect.stringContaining('Nothing has "bulbs saffron": ')]);
  // Each word keeps its place.
  expect((await lines('-bulbs', 'OR', 'saffron')).slice(1, -1)).toEqual([expect.stringMatching(/^file /)]);
  expect(await lines('"saffron', '-bulbs"', '--limit', '5')).toEqual(await lines('"saffron bulbs"'));
  expect((await lines('saffron', '-bulbs', '-"red x"')).at(-1)).toBe(
    'What has “bulbs” or "red x" is left out, by the hyphen. To find it, put it in quotes.',
  );
  expect((await runCairn(['find', 'saffron', '--limit', '-5'], env)).stderr).toContain('whole number');
  expect((await runCairn(['find', 'saffron', '--bulbs'], env)).code).toBe(2);
  expect((await runCairn(['find', '-bulbs'], env)).stderr).toContain('add a word to find');
});

test('[CLI-1, FIND-4] nothing found says why; a wrong kind is told the nearest one', async () => {
  expect(await lines('saffron', 'zzqqx')).toEqual([
    'Nothing has “zzqqx”: tasks, documents, files and names of backups were searched. Check the spelling, or leave it out.',
  ]);
  expect(await lines('saffron', '--in', 'papers')).toEqual([
    'There is nothing among the papers, but 2 elsewhere: search every kind.',
  ]);
  const wrong = await runCairn(['find', 'saffron', '--in', 'taks'], env);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean tasks?')]);
});
