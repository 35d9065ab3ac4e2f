/** cairn mirror: a real repository goes up encrypted and comes back as it was; nothing is overwritten or taken on trust. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Decrypter } from 'age-encryption';
import { beforeAll, expect, test } from 'vitest';
import { progressLine } from '../../../src/client/progress.ts';
import { runCairn } from '../../support/hub.ts';
import { type Account, account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;
const FILES = 40;

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

/** A machine: a config folder of its own and the key of an account. */
function machine(who: Account = owner, env: Record<string, string> = {}) {
  const config = temporaryFolder();
  return {
    config,
    cairn: (...args: string[]) =>
      runCairn(['mirror', ...args], {
        XDG_CONFIG_HOME: config,
        CAIRN_SERVER: hub.url,
        CAIRN_KEY: who.mcp_key,
        ...env,
      }),
  };
}

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    encoding: 'utf8',
  }).trim();

/** A repository of one commit; `bytes` of it do not compress. */
function repository(bytes: number): { readonly folder: string; readonly commit: string } {
  const folder = temporaryFolder();
  git(folder, 'init', '--quiet');
  mkdirSync(join(folder, 'live', 'empty name'), { recursive: true });
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(folder, 'live', `${i}.pem`), randomBytes(bytes / FILES));
  writeFileSync(join(folder, 'live', 'empty name', 'ünïcode.txt'), 'naïve\n');
  writeFileSync(join(folder, 'renew.sh'), '#!/bin/sh\n', { mode: 0o755 });
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'certificates');
  return { folder, commit: git(folder, 'rev-parse', 'HEAD') };
}

/** Every file below a folder, by path, with the hash of its bytes; git's own folder is left out. */
function contents(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !join(entry.parentPath, entry.name).includes('/.git/'))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    found.map((file) => [file.slice(folder.length), createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}

test('[MIR-20] a repository of 32 MiB goes up encrypted for a key that init made, and comes back as it was', async () => {
  const { cairn, config } = machine();
  const { folder, commit } = repository(32 * MiB);
  expect(await cairn('init')).toMatchObject({ code: 0, stderr: '' });
  for (const name of ['mirror.json', 'identity.txt']) {
    expect(statSync(join(config, 'cairn', name)).mode & 0o777).toBe(0o600);
  }
  const pushed = await cairn('push', '--repository', folder, '--json');
  expect([pushed.code, pushed.stderr]).toEqual([0, '']);
  expect(JSON.parse(pushed.stdout)).toMatchObject({ status: 'stored', commit_sha: commit });
  const again = await cairn('push', '--repository', folder, '--json');
  expect(JSON.parse(again.stdout)).toEqual({ status: 'existing', commit_sha: commit });

  const output = join(temporaryFolder(), 'restored');
  expect(await cairn('pull', '--output', output)).toMatchObject({ code: 0, stderr: '' });
  expect(contents(output)).toEqual(contents(folder));
  expect(statSync(join(output, 'renew.sh')).mode & 0o111).not.toBe(0);

  // What the hub holds is an age file that its author's own library opens with the kept identity, and nothing else.
  const raw = join(temporaryFolder(), 'raw.age');
  expect(await cairn('pull', '--encrypted', '--output', raw, '--commit', commit)).toMatchObject({ code: 0 });
  expect(readFileSync(raw).subarray(0, 21).toString()).toBe('age-encryption.org/v1');
  const decrypter = new Decrypter();
  decrypter.addIdentity(readFileSync(join(config, 'cairn', 'identity.txt'), 'utf8').split('\n')[1] ?? '');
  const tar = gunzipSync(await decrypter.decrypt(readFileSync(raw)));
  expect(tar.toString('latin1')).toContain(`comment=${commit}`);
}, 120_000);

test('[MIR-20] in CI the credential comes from the environment and the passphrase from a file', async () => {
  const who = await account(hub);
  const first = machine(who);
  await first.cairn('init');
  const kept = JSON.parse(readFileSync(join(first.config, 'cairn', 'mirror.json'), 'utf8')) as {
    servers: Record<string, { token: string; hmac_secret: string }>;
  };
  const credential = kept.servers[hub.url];
  const passphrase = join(temporaryFolder(), 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\nsecond line\n');
  const ci = machine(who, {
    CAIRN_MIRROR_TOKEN: credential?.token ?? '',
    CAIRN_MIRROR_SECRET: credential?.hmac_secret ?? '',
  });
  const { folder, commit } = repository(64 * 1024);
  const latestBefore = await ci.cairn('latest', '--json');
  expect([latestBefore.code, JSON.parse(latestBefore.stdout)]).toEqual([1, { latest: null }]);
  const pushed = await ci.cairn('push', '--repository', folder, '--passphrase-file', passphrase, '--label', 'ci 서울');
  expect(pushed).toMatchObject({ code: 0, stderr: '' });
  const listed = JSON.parse((await ci.cairn('list', '--json')).stdout) as { blobs: Record<string, unknown>[] };
  expect(listed.blobs).toMatchObject([{ commit_sha: commit, uploaded_by: 'ci 서울' }]);
  expect((await ci.cairn('latest')).stdout).toContain(commit);

  const output = join(temporaryFolder(), 'restored');
  const wrong = join(temporaryFolder(), 'wrong');
  writeFileSync(wrong, 'another passphrase\n');
  const refused = await ci.cairn('pull', '--passphrase-file', wrong, '--output', output);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('cannot be decrypted with this key');
  expect(existsSync(output)).toBe(false);
  expect(await ci.cairn('pull', '--passphrase-file', passphrase, '--output', output)).toMatchObject({ code: 0 });
  expect(contents(output)).toEqual(contents(folder));
}, 120_000);

test('[MIR-20] a restore overwrites nothing, and a push tells of changes that it leaves out', async () => {
  const { cairn } = machine(await account(hub));
  const { folder } = repository(4096);
  await cairn('init');
  writeFileSync(join(folder, 'renew.sh'), 'changed\n');
  const pushed = await cairn('push', '--repository', folder);
  expect(pushed).toMatchObject({ code: 0 });
  expect(pushed.stderr).toContain('uncommitted changes');
  const output = temporaryFolder();
  writeFileSync(join(output, 'mine'), 'mine');
  const refused = await cairn('pull', '--output', output);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('not empty');
  expect(contents(output)).toHaveProperty('/mine');
});

test('[MIR-20] a second machine cannot learn the secret, and is told the two ways on', async () => {
  const who = await account(hub);
  const first = machine(who);
  const { folder, commit } = repository(4096);
  await first.cairn('init');
  await first.cairn('push', '--repository', folder);
  const second = machine(who);
  const refused = await second.cairn('init');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/CAIRN_MIRROR_SECRET[\s\S]*--rotate/);
  expect(await second.cairn('init', '--rotate')).toMatchObject({ code: 0 });
  // The blob of the old credential no longer counts, so a push does not take it for done.
  const pull = await second.cairn('pull', '--commit', commit, '--output', join(temporaryFolder(), 'x'));
  expect(pull.stderr).toContain('upload it again');
  expect((await second.cairn('push', '--repository', folder)).stdout).toContain('Uploaded commit');
  expect(await first.cairn('list')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/mirror token.*replaced or revoked.*CAIRN_MIRROR_SECRET/),
  });
});

test('[MIR-20, CLI-1] a hub without TLS at an https address is told', async () => {
  const { cairn } = machine(await account(hub), {
    CAIRN_SERVER: hub.url.replace('http:', 'https:'),
    CAIRN_MIRROR_TOKEN: 'a'.repeat(64),
    CAIRN_MIRROR_SECRET: 'b'.repeat(64),
  });
  expect(await cairn('list')).toMatchObject({ code: 4, stderr: expect.stringContaining('does not speak TLS') });
});

test.each([
  [['push'], /not a git repository/, 1],
  [['push', '--recipient', 'age1nonsense'], /not an age recipient/, 1],
  [['pull', '--commit', 'abc'], /40 lower-case hex/, 2],
  [['pull', '--commit', 'f'.repeat(40)], /blob not found/, 1],
  [['list', '--limit', '0'], /whole number from 1/, 2],
  [['frobnicate'], /mirror needs one of/, 2],
])('[MIR-20] %j is told what to do next', async (args, sentence, code) => {
  const { cairn } = machine(await account(hub));
  await cairn('init');
  const folder = temporaryFolder();
  const extra = args[0] === 'push' ? ['--repository', args.length > 1 ? repository(4096).folder : folder] : [];
  const refused = await cairn(...args, ...extra);
  expect([refused.code, refused.stdout]).toEqual([code, '']);
  expect(refused.stderr).toMatch(sentence);
});

test('[MIR-20] the bar of a transfer tells share and amount', () => {
  expect(progressLine('uploading', 16 * MiB, 32 * MiB)).toBe(
    'uploading [############------------]  50 %  16.0 MiB of 32.0 MiB',
  );
  expect(progressLine('uploading', 0, 0)).toContain('100 %');
});
