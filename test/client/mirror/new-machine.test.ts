/** A laptop is lost: its backups, and those made from the next one, with the key file that was kept. */
import { copyFileSync, cpSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, commitFile, gitIn, refsOf, testRepository } from '../../support/backup-machine.ts';
import { call } from '../../support/http.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

/** An account with one backup, made from a machine that is gone, and the copy of its key file. */
async function lostLaptop() {
  const who = await account(hub);
  const lost = backupMachine(hub, who);
  await lost.cairn('init');
  const { folder } = testRepository(4096, 'project');
  expect((await lost.cairnIn(folder, 'push')).code).toBe(0);
  const safe = join(temporaryFolder(), 'safe.txt');
  copyFileSync(join(lost.config, 'cairn', 'identity.txt'), safe);
  return { who, folder, safe };
}

test('[MIR-20, MIR-23] a new machine goes on with the key file that was kept: init --identity', async () => {
  const { who, folder, safe } = await lostLaptop();
  const next = backupMachine(hub, who);
  const refused = await next.cairn('init');
  expect(refused).toMatchObject({ code: 5, stdout: '' });
  expect(refused.stderr).toContain('`cairn backups init --rotate --identity FILE`');
  expect(refused.stderr).toContain('FILE is the key file that you kept');
  const begun = await next.cairn('init', '--rotate', '--identity', safe);
  expect(begun).toMatchObject({ code: 0 });
  const own = join(next.config, 'cairn', 'identity.txt');
  expect(readFileSync(own, 'utf8')).toBe(readFileSync(safe, 'utf8'));
  expect(statSync(own).mode & 0o777).toBe(0o600);
  expect(begun.stdout).not.toContain('new key');
  // The name of the folder is the label of the repository.
  const output = join(temporaryFolder(), 'project');
  expect((await next.cairnIn(folder, 'pull', '--output', output)).code).toBe(0);
  commitFile(output, 'next.txt', 'next\n');
  // An increment: the newest backup is for the same key.
  expect((await next.cairnIn(output, 'push')).stdout).toContain('increment');
  const again = join(temporaryFolder(), 'again');
  expect((await next.cairnIn(folder, 'pull', '--identity', safe, '--output', again)).code).toBe(0);
  expect(refsOf(again)).toBe(refsOf(output));
  expect(gitIn(again, 'log', '--oneline').split('\n').length).toBeGreaterThan(1);
  // Another key is never written over.
  const other = join(temporaryFolder(), 'other.txt');
  const { identity } = { identity: readFileSync(join((await otherKey()).config, 'cairn', 'identity.txt'), 'utf8') };
  writeFileSync(other, identity);
  expect(await next.cairn('init', '--identity', other)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is another key'),
  });
  expect(readFileSync(own, 'utf8')).toBe(readFileSync(safe, 'utf8'));
  expect((await next.cairn('init', '--identity', own, '--recipient', 'age1x')).code).toBe(2);
  expect((await next.cairn('init', '--identity', join(folder, 'nowhere'))).stderr).toContain('cannot be read');
});

async function otherKey() {
  const machine = backupMachine(hub, await account(hub));
  await machine.cairn('init');
  return machine;
}

test('[MIR-20] a new key beside earlier backups is told: they need the former key file still', async () => {
  const { who, folder, safe } = await lostLaptop();
  const next = backupMachine(hub, who);
  const begun = await next.cairn('init', '--rotate');
  expect(begun.code).toBe(0);
  expect(begun.stdout).toContain(
    'This is a new key: the 1 archive before it needs the key file that it was encrypted for.',
  );
  expect(begun.stdout).not.toContain('nothing else');
  const output = join(temporaryFolder(), 'restored');
  expect((await next.cairnIn(folder, 'pull', '--identity', safe, '--output', output)).code).toBe(0);
  // A first key has nothing before it.
  const first = await backupMachine(hub, await account(hub)).cairn('init');
  expect(first.stdout).not.toContain('new key');
  expect(first.stdout).toContain('restoring needs it and a sign-in, nothing else');
});

test('[MIR-20] a key file that is lost is told with what needs it, where a copy may be, and how a new key is made', async () => {
  const who = await account(hub);
  const machine = backupMachine(hub, who);
  const recipient = /age1\w+/.exec((await machine.cairn('init')).stdout)?.[0] ?? '';
  const { folder } = testRepository(4096, 'project');
  expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
  const own = join(machine.config, 'cairn', 'identity.txt');
  const safe = join(temporaryFolder(), 'safe.txt');
  renameSync(own, safe);
  for (const command of [['pull', '--output', join(temporaryFolder(), 'no')], ['drill']]) {
    const refused = await machine.cairnIn(folder, ...command);
    expect(refused).toMatchObject({ code: 6, stdout: '' });
    for (const told of [`${own} does not exist`, recipient, '--identity FILE', 'cairn backups init --new-key'])
      expect(refused.stderr).toContain(told);
  }
  const again = await machine.cairn('init');
  expect(again.stdout).not.toContain('Copy that file');
  expect(again.stderr).toContain(`${own}, does not exist`);
  const fresh = await machine.cairn('init', '--new-key');
  expect(fresh).toMatchObject({ code: 0, stderr: '' });
  expect(fresh.stdout).toContain('This is a new key: the 1 archive before it needs the key file');
  expect(fresh.stdout).not.toContain(recipient);
  // A key that is there is never replaced.
  expect(await machine.cairn('init', '--new-key')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('move it to a safe place first'),
  });
  expect((await machine.cairn('init', '--new-key', '--identity', safe)).code).toBe(2);
  commitFile(folder, 'next.txt', 'next\n');
  expect((await machine.cairnIn(folder, 'push')).stdout).not.toContain('increment');
  const output = join(temporaryFolder(), 'project');
  expect((await machine.cairnIn(folder, 'pull', '--output', output)).code).toBe(0);
  expect(refsOf(output)).toBe(refsOf(folder));
  const earlier = join(temporaryFolder(), 'earlier');
  const pulled = ['pull', '--commit', 'HEAD~1', '--output', earlier];
  expect(await machine.cairnIn(folder, ...pulled)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('Pass the key file of the machine that pushed it'),
  });
  expect((await machine.cairnIn(folder, ...pulled, '--identity', safe)).code).toBe(0);
});

test('[MIR-23] a drill without the key says so, and records no failed restore', async () => {
  const { who, folder } = await lostLaptop();
  const next = backupMachine(hub, who);
  const bare = await next.cairn('drill');
  expect(bare).toMatchObject({ code: 2, stdout: '' });
  expect(bare.stderr).toContain('identity.txt does not exist');
  const passphrase = join(temporaryFolder(), 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n');
  const drilled = await next.cairn('drill', '--passphrase-file', passphrase);
  expect(drilled.code).toBe(6);
  expect(drilled.stdout).toMatch(
    /untried {2}project .*was encrypted for a key, not with a passphrase; pass the key file/,
  );
  const { blobs } = JSON.parse((await next.cairn('list', '--json')).stdout) as { blobs: unknown[] };
  expect(blobs.length).toBe(1);
  const listed = await call(hub, '/api/cert_mirror/drills', { headers: { Authorization: `McpKey ${who.mcp_key}` } });
  expect(listed.json()).toMatchObject({ drills: [] });
  expect(folder).toContain('project');
});

test('[MIR-21] a repository that is restored into, or renamed to, a folder of another name goes on under the name of its backups', async () => {
  const { who, folder, safe } = await lostLaptop();
  const next = backupMachine(hub, who);
  expect((await next.cairn('init', '--rotate', '--identity', safe)).code).toBe(0);
  const pushed = async (place: string, ...args: readonly string[]) => {
    commitFile(place, `${crypto.randomUUID()}.txt`, 'more\n');
    return await next.cairnIn(place, 'push', ...args);
  };
  const output = join(temporaryFolder(), 'another');
  expect((await next.cairn('pull', '--repository', 'project', '--output', output)).code).toBe(0);
  expect(await pushed(output)).toMatchObject({
    stderr: '',
    stdout: expect.stringMatching(/Backed up project .*increment/),
  });
  const renamed = join(temporaryFolder(), 'third');
  renameSync(output, renamed);
  expect((await pushed(renamed)).stdout).toMatch(/Backed up project .*increment/);
  // Restored by hand, without the command: its folder says nothing of the name.
  const byHand = join(temporaryFolder(), 'by-hand');
  gitIn(folder, 'clone', '--quiet', renamed, byHand);
  gitIn(byHand, 'remote', 'remove', 'origin');
  expect((await pushed(byHand)).stdout).toMatch(/Backed up project .*increment/);
  expect((await next.cairnIn(byHand, 'push', '--tree')).stdout).toContain('Backed up the files');
  const listed = await next.cairn('list', '--json');
  const { blobs } = JSON.parse(listed.stdout) as { blobs: { repository_label: string }[] };
  expect(new Set(blobs.map((blob) => blob.repository_label))).toEqual(new Set(['project']));
});

test('[MIR-21, MIR-23] a second name of the same repository is told, and a drill and a rewrap open the newest of each', async () => {
  const { who, folder, safe } = await lostLaptop();
  const next = backupMachine(hub, who);
  expect((await next.cairn('init', '--rotate', '--identity', safe)).code).toBe(0);
  const fork = join(temporaryFolder(), 'copy');
  cpSync(folder, fork, { recursive: true });
  rmSync(join(fork, '.git', 'cairn'), { recursive: true });
  commitFile(fork, 'fork.txt', 'fork\n');
  gitIn(fork, 'remote', 'add', 'origin', 'https://example.org/team/fork.git');
  const begun = await next.cairnIn(fork, 'push');
  expect(begun.stderr).toContain(
    'the hub has backups of this repository as project; those as fork begin a second series',
  );
  expect((await next.cairnIn(fork, 'push')).stderr).toBe('');
  const output = join(temporaryFolder(), 'restored');
  const pulled = await next.cairn('pull', '--repository', 'project', '--output', output);
  expect(pulled.stderr).toMatch(/newer backup under another name, of .*; restore that one with --repository fork/);
  expect(refsOf(output)).toBe(refsOf(folder));
  const drilled = await next.cairn('drill');
  expect(drilled.stdout.match(/proven {2}\w+/g)).toEqual(['proven  project', 'proven  fork']);
  const other = await otherKey();
  const recipient = /age1\w+/.exec((await other.cairn('init')).stdout)?.[0] ?? '';
  const rewrapped = await next.cairn('rewrap', '--recipient', recipient);
  expect(rewrapped.stdout.match(/^\w+/gm)).toEqual(['project', 'fork']);
  expect((await next.cairn('latest')).stdout).toContain('fork (');
});
