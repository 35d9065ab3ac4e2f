/** Archives that a script made with git, openssl and curl, as the manual shows, beside those of the command. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { backupMachine, contentsOf, gitIn, type TestRepository, testRepository } from '../../support/backup-machine.ts';
import { runCairn } from '../../support/hub.ts';
import { get, mirrorAccount, upload } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

/** What `git archive | openssl enc` of the manual writes. */
function encryptedByOpenssl({ folder }: TestRepository, passphraseFile: string, ...options: string[]): Buffer {
  const packed = execFileSync('git', ['-C', folder, 'archive', '--format=tar.gz', 'HEAD'], { maxBuffer: 2 ** 27 });
  const args = ['enc', '-aes-256-cbc', '-pbkdf2', ...options, '-pass', `file:${passphraseFile}`];
  return execFileSync('openssl', args, { input: packed, maxBuffer: 2 ** 27 });
}

function fileOf(text: string): string {
  const file = join(temporaryFolder(), 'passphrase');
  writeFileSync(file, text);
  return file;
}

test('[MIR-23] a drill says what it cannot check of an archive made by openssl, and proves it with the passphrase', async () => {
  const who = await mirrorAccount(hub);
  const own = backupMachine(hub, who, { CAIRN_MIRROR_TOKEN: who.token, CAIRN_MIRROR_SECRET: who.hmac_secret });
  const [kept, scripted] = [testRepository(4096, 'kept'), testRepository(300_000, 'scripted')];
  const identity = await generateX25519Identity();
  const [recipient, file] = [await identityToRecipient(identity), fileOf(identity)];
  expect(await own.cairnIn(kept.folder, 'push', '--recipient', recipient)).toMatchObject({ code: 0 });
  const passphrase = fileOf('c0ffee\n');
  const bytes = encryptedByOpenssl(scripted, passphrase);
  expect((await upload(hub, who, scripted.commit, bytes)).status).toBe(200);

  const told = await own.cairn('drill', '--identity', file);
  expect(told.code).toBe(6);
  expect(told.stdout).toMatch(
    /untried {2}unknown {2}\w+ {2}its bytes are whole; .* by openssl with a passphrase, .*--passphrase-file FILE\.\n.*proven {2}kept/,
  );
  // Nobody tried to restore it, so no failure is on record.
  const recorded = async () => (await get(hub, who, '/drills')).json()['drills'];
  expect(await recorded()).toMatchObject([{ outcome: 'proven', commit_sha: kept.commit }]);
  // Each archive of both kinds is proven by one command.
  const both = await own.cairn('drill', '--identity', file, '--passphrase-file', passphrase);
  expect(both).toMatchObject({ code: 0 });
  expect(both.stdout).toMatch(/proven {2}unknown .*files of one commit.*\n.*proven {2}kept/);
  expect(await recorded()).toMatchObject([{}, { outcome: 'proven', commit_sha: scripted.commit }, {}]);
  const wrong = await own.cairn('drill', '--identity', file, '--passphrase-file', fileOf('c0ffe\n'));
  expect(wrong).toMatchObject({ code: 7, stdout: expect.stringMatching(/failed {2}unknown .* with this passphrase/) });

  const rewrapped = await own.cairn('rewrap', '--identity', file, '--recipient', recipient);
  expect(rewrapped).toMatchObject({ code: 6, stdout: expect.stringMatching(/^kept /) });
  expect(rewrapped.stderr).toContain('unknown: this archive was encrypted by openssl with a passphrase');
}, 120_000);

test('[MIR-20] a pull restores an archive made by openssl, and says what to pass when it cannot', async () => {
  const who = await mirrorAccount(hub);
  const own = backupMachine(hub, who);
  const scripted = testRepository(300_000, 'scripted');
  const passphrase = fileOf('c0ffee\nsecond line\n');
  expect((await upload(hub, who, scripted.commit, encryptedByOpenssl(scripted, passphrase))).status).toBe(200);
  const output = join(temporaryFolder(), 'restored');
  const pulled = await own.cairn('pull', '--passphrase-file', passphrase, '--output', output);
  expect(pulled).toMatchObject({ code: 0, stderr: '' });
  expect(contentsOf(output)).toEqual(contentsOf(scripted.folder));

  const piped = join(temporaryFolder(), 'piped');
  const env = { XDG_CONFIG_HOME: temporaryFolder(), CAIRN_SERVER: hub.url, CAIRN_KEY: who.mcp_key };
  const pull = ['backups', 'pull', '--commit', scripted.commit, '--passphrase-file', '-', '--output', piped];
  expect(await runCairn(pull, env, '')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('standard input has no passphrase in its first line'),
  });
  expect(await runCairn(pull, env, 'c0ffee\nsecond line\n')).toMatchObject({ code: 0, stderr: '' });
  expect(contentsOf(piped)).toEqual(contentsOf(scripted.folder));

  const none = join(temporaryFolder(), 'none');
  const identity = fileOf(await generateX25519Identity());
  const cases: [string[], number, RegExp][] = [
    [['--identity', identity], 6, /by openssl with a passphrase, not for a key; pass .*--passphrase-file FILE/],
    [['--passphrase-file', fileOf('c0ffe\n')], 6, /with this passphrase: openssl encrypted it with another one/],
  ];
  for (const [args, code, sentence] of cases) {
    const refused = await own.cairn('pull', ...args, '--output', none);
    expect(refused).toMatchObject({ code, stderr: expect.stringMatching(sentence) });
  }
  // A later archive of the same script with other options: the passphrase is right, the form is not the manual's.
  const other = encryptedByOpenssl(scripted, passphrase, '-iter', '20000');
  gitIn(scripted.folder, 'commit', '--quiet', '--allow-empty', '--message', 'next');
  expect((await upload(hub, who, gitIn(scripted.folder, 'rev-parse', 'HEAD'), other)).status).toBe(200);
  const refused = await own.cairn('pull', '--passphrase-file', passphrase, '--output', none);
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('not with `-aes-256-cbc -pbkdf2`') });
}, 120_000);

test('[MIR-20] an archive of the command with a passphrase says so to a pull that has only a key', async () => {
  const who = await mirrorAccount(hub);
  const own = backupMachine(hub, who, { CAIRN_MIRROR_TOKEN: who.token, CAIRN_MIRROR_SECRET: who.hmac_secret });
  const { folder } = testRepository(4096);
  const passphrase = fileOf('c0ffee\n');
  expect(await own.cairnIn(folder, 'push', '--passphrase-file', passphrase)).toMatchObject({ code: 0 });
  const identity = fileOf(await generateX25519Identity());
  const refused = await own.cairnIn(folder, 'pull', '--identity', identity, '--output', join(temporaryFolder(), 'x'));
  expect(refused).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/with a passphrase.*--passphrase-file FILE/),
  });
}, 120_000);
