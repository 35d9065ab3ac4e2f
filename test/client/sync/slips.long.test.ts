/** Slips of a person at a shell: a name from another folder, an empty option, a file that is nowhere. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { syncedPair } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** Runs the command in a folder. */
function inFolder(folder: string, ...args: string[]) {
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() };
  return runCairn(args, env, '', ['env', '-C', folder]);
}

test('[CLI-2] a file is named as it is from where the command runs, or as commands print it', async () => {
  const [a, b] = await syncedPair(hub, key, { 'sub/one.md': '1\n', 'sub/two.md': '2\n', 'one.md': 'top\n' });
  for (const name of ['one', 'two']) {
    a.write(`sub/${name}.md`, 'of a\n');
    b.write(`sub/${name}.md`, 'of b\n');
  }
  await a.sync();
  expect(await b.sync()).toMatchObject({ code: 3 });
  const sub = b.at('sub');
  const settled = await inFolder(sub, 'sync', 'resolve', 'one.md', '--keep', 'theirs');
  // The other one still waits.
  expect(settled).toMatchObject({ code: 3, stdout: 'pulled    sub/one.md  (settled: theirs)\n' });
  expect(await inFolder(sub, 'sync', 'resolve', 'sub/two.md', '--keep', 'mine')).toMatchObject({ code: 0 });
  for (const name of ['one.md', 'sub/one.md']) {
    expect((await inFolder(sub, 'sync', 'diff', name)).stdout).toContain('sub/one.md is the same');
  }
  expect((await inFolder(b.folder, 'sync', 'diff', 'one.md')).stdout).toMatch(/^one\.md is the same/);
  // A file that is only on the hub.
  a.write('sub/only there.md', 'there\n');
  await a.sync();
  expect(await inFolder(sub, 'sync', 'history', 'only there.md')).toMatchObject({ code: 0 });
}, 60_000);

test('[CLI-2] a file that is nowhere is told in words of the command', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n' }, { isShared: false });
  for (const command of [['history'], ['diff'], ['restore']]) {
    const { code, stderr } = await inFolder(a.folder, 'sync', ...command, 'nowhere.md');
    expect([code, stderr]).toEqual([1, 'cairn: nowhere.md is not on the hub; `cairn sync list` shows the files.\n']);
  }
}, 60_000);

test('[CLI-2] a choice of files that is empty is refused, and the choice before stays', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n' }, { isShared: false });
  const refused = await inFolder(a.folder, 'sync', '--only', '');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("--only is empty; name a pattern, or '*' for everything");
  a.write('two.md', '2\n');
  expect((await a.sync()).stdout).toContain('two.md');
}, 60_000);

test('[CLI-2] a folder without a vault is told which vaults there are', async () => {
  const folder = join(temporaryFolder(), 'new');
  mkdirSync(folder);
  const { mcp_key: other } = await account(hub);
  await syncedPair(hub, other, { 'one.md': '1\n' }, { isShared: false });
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: other, XDG_CONFIG_HOME: temporaryFolder() };
  const { code, stderr } = await runCairn(['sync', '--folder', folder], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^cairn: name a vault with --vault\. There is: vault [0-9a-f]{8}\.\n$/);
}, 60_000);
