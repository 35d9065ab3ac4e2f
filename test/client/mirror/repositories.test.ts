/** A dead laptop, several repositories, and what was uploaded before repositories had ids. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, contentsOf, gitIn, refsOf, testRepository } from '../../support/backup-machine.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

/** The public key of an age identity that nobody has. */
const ONE_KEY = 'age1cy6vpgzrstp3808jpf6cr9arpxceje4ay06jtj2tlm0d9jsmdcysh65zdu';

test('[MIR-20] after a dead laptop, the sign-in and the age identity restore everything; no credential is replaced', async () => {
  const who = await account(hub);
  const laptop = backupMachine(hub, who);
  const { folder, commit } = testRepository(4096);
  await laptop.cairn('init');
  await laptop.cairn('push', '--repository', folder);
  const expected = contentsOf(folder);
  const safe = join(temporaryFolder(), 'safe.txt');
  copyFileSync(join(laptop.config, 'cairn', 'identity.txt'), safe);
  rmSync(laptop.config, { recursive: true });
  rmSync(folder, { recursive: true });

  const second = backupMachine(hub, who);
  expect((await second.cairn('list')).stdout).toContain(commit);
  expect((await second.cairn('latest')).code).toBe(0);
  const output = join(temporaryFolder(), 'restored');
  expect(await second.cairn('pull', '--identity', safe, '--output', output)).toMatchObject({ code: 0, stderr: '' });
  expect(contentsOf(output)).toEqual(expected);

  // To upload from there too, the command says what to do, and that loses nothing.
  const refused = await second.cairn('init');
  expect(refused).toMatchObject({ code: 5, stdout: '' });
  expect(refused.stderr).toMatch(/run `cairn backups pull`[\s\S]*sends the 1 archive again/);
  mkdirSync(join(second.config, 'cairn'), { recursive: true });
  copyFileSync(safe, join(second.config, 'cairn', 'identity.txt'));
  const rotated = await second.cairn('init', '--rotate');
  expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining('make 1 archive unreadable') });
  const again = join(temporaryFolder(), 'restored');
  expect(await second.cairn('pull', '--output', again)).toMatchObject({ code: 0 });
  expect(contentsOf(again)).toEqual(expected);
  expect((await second.cairnIn(again, 'push')).code).toBe(0);
});

test('[MIR-20] a machine whose credential was replaced still restores, and is told how to upload again', async () => {
  const who = await account(hub);
  const [first, second] = [backupMachine(hub, who), backupMachine(hub, who)];
  const { folder } = testRepository(4096);
  await first.cairn('init');
  await first.cairn('push', '--repository', folder);
  const recipient = /age1\w+/.exec((await first.cairn('init')).stdout)?.[0] ?? '';
  expect(await second.cairn('init', '--rotate', '--recipient', recipient)).toMatchObject({ code: 0 });
  const output = join(temporaryFolder(), 'restored');
  expect(await first.cairnIn(folder, 'pull', '--output', output)).toMatchObject({ code: 0 });
  const pushed = await first.cairnIn(folder, 'push', '--again');
  expect(pushed).toMatchObject({ code: 5, stdout: '' });
  expect(pushed.stderr).toMatch(/Restoring needs only `cairn login`[\s\S]*sends every archive again/);
});

test('[MIR-24] a revoked credential of a job leads to a new one of its kind, not to a replacement of the credential of the account', async () => {
  const who = await account(hub);
  const machine = backupMachine(hub, who);
  const { folder } = testRepository(4096);
  await machine.cairn('init');
  await machine.cairn('push', '--repository', folder);
  for (const [kind, command] of [
    ['uploader', 'push'],
    ['restorer', 'list'],
  ] as const) {
    const { stdout } = await machine.cairn(`${kind}-create`, 'ci');
    const printed = [...stdout.matchAll(/^(CAIRN_MIRROR_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    const job = backupMachine(hub, who, { ...Object.fromEntries(printed), CAIRN_RECIPIENTS: ONE_KEY });
    expect((await job.cairnIn(folder, command)).code).toBe(0);
    const id = /m[ud]_[0-9a-f]{16}/.exec(stdout)?.[0] ?? '';
    expect((await machine.cairn('uploader-revoke', id)).code).toBe(0);
    const refused = await job.cairnIn(folder, command);
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toMatch(
      /CAIRN_MIRROR_TOKEN: it was revoked or replaced[\s\S]*uploader-create NAME[\s\S]*restorer-create/,
    );
    expect(refused.stderr).not.toContain('--rotate');
  }
});

test('[MIR-21] pull in repository A restores A though B was pushed later; --repository names another', async () => {
  const who = await account(hub);
  const { cairn, cairnIn } = backupMachine(hub, who);
  const [a, b] = [testRepository(4096, 'alpha'), testRepository(4096, '베타')];
  await cairn('init');
  await cairnIn(a.folder, 'push');
  await cairnIn(b.folder, 'push');
  const own = join(temporaryFolder(), 'own');
  expect(await cairnIn(a.folder, 'pull', '--output', own)).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(own)).toBe(refsOf(a.folder));
  const other = join(temporaryFolder(), 'other');
  expect(await cairnIn(a.folder, 'pull', '--repository', '베타', '--output', other)).toMatchObject({ code: 0 });
  expect(refsOf(other)).toBe(refsOf(b.folder));
  const listed = await cairn('list');
  expect(listed.stdout).toMatch(/^베타 \([0-9a-f]{12}\): 1 archive[\s\S]*\nalpha \([0-9a-f]{12}\): 1 archive/);

  // Outside a repository nothing is guessed.
  const refused = await cairn('pull', '--output', join(temporaryFolder(), 'x'));
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/not a git repository[\s\S]*--repository[\s\S]*베타[\s\S]*alpha/);
  // A clone is the same repository; another one is not.
  const clone = join(temporaryFolder(), 'alpha');
  gitIn(temporaryFolder(), 'clone', '--quiet', a.folder, clone);
  expect(await cairnIn(clone, 'pull', '--output', join(temporaryFolder(), 'x'))).toMatchObject({ code: 0 });
  const foreign = testRepository(4096, 'gamma');
  const unknown = await cairnIn(foreign.folder, 'pull', '--output', join(temporaryFolder(), 'x'));
  expect(unknown.stderr).toMatch(/no backup of this repository \(gamma/);
});
