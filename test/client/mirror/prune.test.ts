/** Retention by rule: off by default, told before, and what stays is restorable. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, commitFile, refsOf, testRepository } from '../../support/backup-machine.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

test('[MIR-28] prune removes what the rules do not keep, and tells before what it would remove', async () => {
  const who = await account(hub);
  const { cairn, cairnIn } = backupMachine(hub, who);
  const { folder } = testRepository(4096, 'website');
  await cairn('init');
  await cairnIn(folder, 'push');
  commitFile(folder, 'a', '1');
  await cairnIn(folder, 'push');
  expect((await cairnIn(folder, 'push', '--again')).stdout).toContain('full: as requested');
  commitFile(folder, 'a', '2');
  await cairnIn(folder, 'push');

  const unsaid = await cairn('prune');
  expect(unsaid).toMatchObject({ code: 2, stdout: '' });
  expect(unsaid.stderr).toContain('--keep-last 10');
  const trial = await cairn('prune', '--keep-last', '1', '--dry-run');
  expect(trial.stdout).toMatch(
    /^website \([0-9a-f]{12}\): would remove 2 archives, .* from .* to .*; 2 archives stay\.\n$/,
  );
  expect((await cairn('list')).stdout).toContain('4 archives');
  const done = await cairn('prune', '--keep-last', '1', '--json');
  expect(JSON.parse(done.stdout)).toMatchObject({
    repositories: [{ kept: 2, removed: 2, repository_label: 'website' }],
  });
  expect((await cairn('list')).stdout).toContain('2 archives');
  const output = join(temporaryFolder(), 'restored');
  expect(await cairnIn(folder, 'pull', '--output', output)).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(output)).toBe(refsOf(folder));
  // The next push continues the chain.
  commitFile(folder, 'a', '3');
  expect((await cairnIn(folder, 'push')).stdout).toContain('(increment)');
}, 240_000);

test('[MIR-29, MIR-22] with an upload-only credential a job uploads increments, and neither lists, restores nor prunes', async () => {
  const who = await account(hub);
  const { cairn, cairnIn } = backupMachine(hub, who);
  const { folder } = testRepository(4096, 'website');
  expect((await cairn('uploader-create', 'ci')).stderr).toContain('run `cairn backups init` first');
  await cairn('init');
  const told = (await cairn('uploader-create', 'ci')).stdout;
  const variables = Object.fromEntries(
    [...told.matchAll(/^(CAIRN_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const { CAIRN_RECIPIENTS: recipient = '', ...env } = variables;
  const ci = backupMachine(hub, who, { ...env, CAIRN_KEY: 'a'.repeat(64) });
  const push = (...more: string[]) => ci.cairnIn(folder, 'push', '--recipient', recipient, ...more);
  expect((await push()).stdout).toContain('full: the first of this repository');
  expect((await push()).stdout).toContain('already backed up');
  commitFile(folder, 'a', '1');
  expect((await push()).stdout).toContain('(increment)');
  const output = join(temporaryFolder(), 'restored');
  expect(await cairnIn(folder, 'pull', '--output', output)).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(output)).toBe(refsOf(folder));
  expect((await push('--tree')).code).toBe(0);
  expect((await push('--tree')).stdout).toContain('already backed up');
  for (const args of [['list'], ['pull', '--encrypted', '--output', 'x'], ['prune', '--keep-last', '1']]) {
    const refused = await ci.cairn(...args);
    expect(refused.code, args[0]).toBe(5);
    expect(refused.stderr, args[0]).toContain('only upload');
  }
  const [id = ''] = /mu_[0-9a-f]+/.exec((await cairn('uploaders')).stdout) ?? [];
  expect((await cairn('uploader-revoke', id)).code).toBe(0);
  expect((await cairn('uploader-revoke', id)).stderr).toContain('cairn backups uploaders');
  commitFile(folder, 'a', '2');
  expect((await push()).code).toBe(5);
}, 240_000);
