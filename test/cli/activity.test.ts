/** cairn activity, as a user types it. */
import { beforeAll, expect, test } from 'vitest';
import { callTool } from '../support/gateway.ts';
import { runCairn } from '../support/hub.ts';
import { momentBetween } from '../support/moment.ts';
import { newDevice } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let env: Record<string, string>;

beforeAll(async () => {
  const device = await newDevice(hub, 'laptop');
  await device.push('notes/garden.md', '# Garden\n');
  await momentBetween();
  await callTool(hub, 'create_task', { content: 'Order saffron bulbs' }, device.key);
  await callTool(hub, 'delete_task', { id: 1 }, device.key);
  env = { CAIRN_SERVER: hub.url, CAIRN_KEY: device.key, XDG_CONFIG_HOME: temporaryFolder() };
});

/** The lines of a list, its columns two spaces apart. */
const lines = async (...args: string[]) =>
  (await runCairn(['activity', ...args], env)).stdout.trimEnd().replace(/ {3,}/g, '  ').split('\n');

test('[CLI-6, EVENT-1] cairn activity lists what changed, the newest first, since a time and by whom', async () => {
  const [deleted, created, file, ...others] = await lines();
  expect(deleted).toMatch(
    /^20\d\d-\d\d-\d\d \d\d:\d\d {2}.+ {2}deleted task +Order saffron bulbs +cairn:\/\/tasks\/1$/,
  );
  expect(created).toContain('created task');
  expect(file).toMatch(/ laptop +created file +notes\/garden\.md +cairn:\/\/vaults\//);
  expect(others).toEqual([]);
  expect(await lines('--by', 'Laptop', '--since', '2h ago')).toEqual([file]);
  const [first, more = ''] = await lines('--since', 'yesterday', '--limit', '1');
  expect(first).toBe(deleted);
  expect(await lines('--since', 'yesterday', ...more.split(' ').slice(-2))).toEqual([created, file]);
  expect(JSON.parse((await lines('--json')).join(''))).toMatchObject({
    changes: [{ act: 'deleted' }, {}, {}],
    cursor: null,
  });
});

test('[CLI-6, EVENT-1] who did nothing is told who did, and what is no time is told the forms', async () => {
  expect(await lines('--by', 'tablet')).toEqual([expect.stringMatching(/^0 changes; none by tablet, but by .*laptop/)]);
  const wrong = await runCairn(['activity', '--since', 'soon'], env);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('soon is not a time')]);
});

test('[CLI-6, FIND-7] cairn undo shows what it takes back, does it with --yes, and says how that is undone', async () => {
  const undo = async (...args: string[]) => (await runCairn(['undo', ...args], env)).stdout;
  const shown = await undo('--by', 'laptop', '--since', '2h');
  expect(shown).toMatch(/^1 would be taken back:\nnotes\/garden\.md .*\nNothing was changed\. Add --yes to do it\.\n$/);
  const done = await undo('--by', 'laptop', '--since', '2h', '--yes');
  expect(done).toMatch(/^1 taken back; `cairn undo --since \S+ --yes` takes that back:\nnotes\/garden\.md removed/);
  const [, back = ''] = /`cairn undo (.+?)`/.exec(done) ?? [];
  expect(await undo(...back.split(' '))).toContain('notes/garden.md is back');
  const wrong = await runCairn(['undo', '--by', 'laptop'], env);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--since is required')]);
});
