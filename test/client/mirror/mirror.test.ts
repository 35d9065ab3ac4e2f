/** cairn backups: a real repository goes up encrypted and comes back as it was; nothing is overwritten or taken on trust. */
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Decrypter } from 'age-encryption';
import { beforeAll, expect, test } from 'vitest';
import { progressLine } from '../../../src/client/progress.ts';
import {
  type BackupMachine,
  backupMachine,
  commitFile,
  contentsOf,
  gitIn,
  modeOf,
  refsOf,
  testRepository,
} from '../../support/backup-machine.ts';
import { type Account, account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const machine = (who: Account = owner, env: Record<string, string> = {}): BackupMachine => backupMachine(hub, who, env);

test('[MIR-20] a repository of 4 MiB goes up encrypted for a key that init made, and comes back as it was', async () => {
  const { cairn, cairnIn, config } = machine();
  const { folder, commit } = testRepository(4 * MiB);
  expect(await cairn('init')).toMatchObject({ code: 0, stderr: '' });
  for (const name of ['mirror.json', 'identity.txt']) {
    expect(statSync(join(config, 'cairn', name)).mode & 0o777).toBe(0o600);
  }
  const pushed = await cairn('push', '--repository', folder, '--json');
  expect([pushed.code, pushed.stderr]).toEqual([0, '']);
  expect(JSON.parse(pushed.stdout)).toMatchObject({ status: 'stored', commit_sha: commit, kind: 'full', left_out: [] });

  const output = join(temporaryFolder(), 'restored');
  expect(await cairnIn(folder, 'pull', '--commit', commit, '--output', output)).toMatchObject({ code: 0, stderr: '' });
  expect(contentsOf(output)).toEqual(contentsOf(folder));
  expect(refsOf(output)).toBe(refsOf(folder));
  // The beginning of an id is enough anywhere, and where git is at hand so is a ref.
  for (const [at, named] of [
    [temporaryFolder(), commit.slice(0, 7)],
    [folder, 'HEAD'],
    [folder, `${commit.slice(0, 8).toUpperCase()}`],
  ] as const) {
    const pulled = await cairnIn(at, 'pull', '--commit', named, '--output', join(temporaryFolder(), 'named'), '--json');
    expect([pulled.code, pulled.stderr]).toEqual([0, '']);
    expect(JSON.parse(pulled.stdout)).toMatchObject({ commit_sha: commit });
  }
  const unknown = await cairnIn(
    folder,
    'pull',
    '--commit',
    '--upload-pack=x',
    '--output',
    join(temporaryFolder(), 'no'),
  );
  expect(unknown.code).not.toBe(0);
  const umask = process.umask();
  expect(modeOf(output, 'renew.sh')).toBe(0o777 & ~umask);
  expect(modeOf(output, 'live', '0.pem')).toBe(0o666 & ~umask);

  // What the hub holds is an age file that its author's own library opens with the kept identity, and nothing else.
  const raw = join(temporaryFolder(), 'raw.age');
  expect(await cairn('pull', '--encrypted', '--output', raw, '--commit', commit)).toMatchObject({ code: 0 });
  expect(readFileSync(raw).subarray(0, 21).toString()).toBe('age-encryption.org/v1');
  const decrypter = new Decrypter();
  decrypter.addIdentity(readFileSync(join(config, 'cairn', 'identity.txt'), 'utf8').split('\n')[1] ?? '');
  const tar = gunzipSync(await decrypter.decrypt(readFileSync(raw)));
  expect(tar.toString('latin1', 0, 13)).toBe('manifest.json');
  expect(tar.toString('latin1')).toContain(`"commit_sha": "${commit}"`);
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
  const { folder, commit } = testRepository(64 * 1024);
  const latestBefore = await ci.cairn('latest', '--json');
  expect([latestBefore.code, JSON.parse(latestBefore.stdout)]).toEqual([1, { latest: null }]);
  const label = '빌드서버-7호';
  const pushed = await ci.cairn('push', '--repository', folder, '--passphrase-file', passphrase, '--label', label);
  expect(pushed).toMatchObject({ code: 0, stderr: '' });
  const listed = JSON.parse((await ci.cairn('list', '--json')).stdout) as { blobs: Record<string, unknown>[] };
  expect(listed.blobs).toMatchObject([{ commit_sha: commit, uploaded_by: label }]);
  expect((await ci.cairn('latest')).stdout).toContain(commit);

  const output = join(temporaryFolder(), 'restored');
  const wrong = join(temporaryFolder(), 'wrong');
  writeFileSync(wrong, 'another passphrase\n');
  const refused = await ci.cairn('pull', '--passphrase-file', wrong, '--output', output);
  expect(refused).toMatchObject({ code: 6, stdout: '' });
  expect(refused.stderr).toContain('cannot be decrypted with this passphrase: it was encrypted with another one');
  expect(existsSync(output)).toBe(false);
  expect(await ci.cairn('pull', '--passphrase-file', passphrase, '--output', output)).toMatchObject({ code: 0 });
  expect(contentsOf(output)).toEqual(contentsOf(folder));
}, 120_000);

test('[MIR-22] a push follows the history no further than the one before, and each archive of a chain costs a pull one git process', async () => {
  const trace = join(temporaryFolder(), 'trace');
  const who = await account(hub);
  const [plain, traced] = [machine(who), machine(who, { GIT_TRACE: trace })];
  const told = () =>
    [...readFileSync(trace, 'utf8').matchAll(/trace: built-in: git (.*)/g)].map(([, words = '']) => words);
  const { folder } = testRepository(4096);
  await plain.cairn('init');
  await plain.cairnIn(folder, 'push');
  copyFileSync(join(plain.config, 'cairn', 'identity.txt'), join(traced.config, 'identity.txt'));
  const pulled = async () => {
    rmSync(trace, { force: true });
    const output = join(temporaryFolder(), 'restored');
    const identity = join(traced.config, 'identity.txt');
    const { code } = await traced.cairnIn(folder, 'pull', '--identity', identity, '--output', output);
    expect([code, refsOf(output)]).toEqual([0, refsOf(folder)]);
    const programs = told().map((words) => words.split(' ')[0]);
    const [packs, others] = [
      programs.filter((one) => one === 'index-pack'),
      programs.filter((one) => one !== 'index-pack'),
    ];
    return { packs: packs.length, others };
  };
  const ofOne = await pulled();

  for (const name of ['one', 'two', 'three']) {
    const before = gitIn(folder, 'rev-parse', 'HEAD');
    commitFile(folder, name, name);
    rmSync(trace, { force: true });
    const { config } = plain;
    const pushed = await machine(who, { GIT_TRACE: trace, XDG_CONFIG_HOME: config }).cairnIn(folder, 'push', '--json');
    expect(JSON.parse(pushed.stdout)).toMatchObject({ kind: 'increment' });
    const walks = told().filter((words) => words.startsWith('rev-list'));
    expect(walks).toEqual([expect.stringMatching(new RegExp(String.raw`--parents [0-9a-f]{40} \^${before}$`))]);
  }
  expect([ofOne.packs, await pulled()]).toEqual([1, { ...ofOne, packs: 4 }]);

  // Another line of first parents has another root: the repository is another one, whatever was known.
  gitIn(folder, 'checkout', '--quiet', '--orphan', 'other');
  commitFile(folder, 'other', 'other');
  gitIn(folder, 'merge', '--quiet', '--allow-unrelated-histories', '--no-edit', 'main');
  const [first, other] = [await plain.cairnIn(folder, 'push', '--json'), await plain.cairnIn(folder, 'push', '--json')];
  expect(JSON.parse(first.stdout)).toMatchObject({ kind: 'full' });
  expect(JSON.parse(other.stdout)).toMatchObject({ status: 'existing' });
});

test('[MIR-22] a restore overwrites nothing, and a push tells of changes that it leaves out', async () => {
  const { cairn } = machine(await account(hub));
  const { folder } = testRepository(4096);
  await cairn('init');
  writeFileSync(join(folder, 'renew.sh'), 'changed\n');
  const pushed = await cairn('push', '--repository', folder);
  expect(pushed).toMatchObject({ code: 0 });
  expect(pushed.stderr).toContain('not in this backup: uncommitted changes');
  const output = temporaryFolder();
  writeFileSync(join(output, 'mine'), 'mine');
  const refused = await cairn('pull', '--output', output);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('not empty');
  expect(contentsOf(output)).toHaveProperty('/mine');
});

test('[MIR-22] --tree backs up the files of HEAD alone, with modes, links and times as git has them', async () => {
  const { cairn } = machine(await account(hub));
  const { folder, commit } = testRepository(4096);
  await cairn('init');
  const pushed = await cairn('push', '--tree', '--repository', folder, '--json');
  expect(pushed).toMatchObject({ code: 0 });
  expect(pushed.stderr).toContain('history, other branches, and files marked export-ignore');
  const again = await cairn('push', '--tree', '--repository', folder, '--json');
  const output = join(temporaryFolder(), 'files');
  const pulled = await cairn('pull', '--output', output, '--json');
  expect(JSON.parse(pulled.stdout)).toMatchObject({ kind: 'tree', commit_sha: commit });
  expect(contentsOf(output)).toEqual(contentsOf(folder));
  expect(modeOf(output, 'renew.sh')).toBe(0o777 & ~process.umask());
  expect(modeOf(output, 'live', '0.pem')).toBe(0o666 & ~process.umask());
  expect(again.code).toBe(0);
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
  [['pull', '--commit', 'abc'], /no backup of commit abc; see `cairn backups list`/, 1],
  [['pull', '--commit', 'f'.repeat(40)], /no backup of commit/, 1],
  [['pull'], /there is no backup yet/, 1],
  [['pull', '--max-size', '12 apples'], /--max-size must be/, 2],
  [['list', '--limit', '0'], /whole number from 1/, 2],
  [['frobnicate'], /backups needs one of/, 2],
])('[MIR-20] %j is told what to do next', async (args, sentence, code) => {
  const { cairn } = machine(await account(hub));
  await cairn('init');
  const extra =
    args[0] === 'push' ? ['--repository', args.length > 1 ? testRepository(4096).folder : temporaryFolder()] : [];
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
