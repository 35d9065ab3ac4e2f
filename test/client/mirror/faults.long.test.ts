/** Bombs, damage, overload and cut lines: a sentence, an exit code, bounded memory, and nothing left behind. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { encrypt } from '../../../src/client/mirror/age.ts';
import { type BackupMachine, backupMachine, commitFile, refsOf, testRepository } from '../../support/backup-machine.ts';
import { startByteRelay } from '../../support/byte-relay.ts';
import { CAIRN, cleanEnvironment, runCairn } from '../../support/hub.ts';
import { type Account, account, type Credential, randomCommit, upload } from '../../support/mirror.ts';
import { until } from '../../support/mirror-state.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;
/** Restored by the test of memory. */
const RESTORED_GIB = Number(process.env['RESTORED_GIB'] ?? 1);
const RSS_MAX = 200 * MiB;

const hub = useHub();
let who: Account;
let machine: BackupMachine;

beforeAll(async () => {
  who = await account(hub);
  machine = backupMachine(hub, who);
  await machine.cairn('init');
});

function stored(): Credential & { readonly recipients: readonly string[] } {
  const { servers } = JSON.parse(readFileSync(join(machine.config, 'cairn', 'mirror.json'), 'utf8')) as {
    servers: Record<string, Credential & { recipients: string[] }>;
  };
  const entry = servers[hub.url];
  if (entry === undefined) throw new Error('init stores an entry');
  return entry;
}

/** The head of a tar entry. */
function head(name: string, size: number, type = '0'): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0);
  block.write('0000644\0', 100);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write(type, 156);
  block.write('ustar\u000000', 257);
  return block;
}

/** A tar.gz of files of zeros: gzip allows members one after another, so few bytes are compressed once. */
function zeros(files: number, gib: number): Buffer {
  const half = gzipSync(Buffer.alloc(GiB / 2));
  const parts: Buffer[] = [];
  for (let file = 0; file < files; file += 1) {
    parts.push(gzipSync(head(`zeros-${file}`, gib * GiB)), ...Array<Buffer>(gib * 2).fill(half));
  }
  return Buffer.concat([...parts, gzipSync(Buffer.alloc(1024))]);
}

async function uploadArchive(tarball: Buffer): Promise<string> {
  const commit = randomCommit();
  const entry = stored();
  const sealed = await encrypt(tarball, { recipients: entry.recipients });
  expect((await upload(hub, entry, commit, sealed)).status).toBe(200);
  return commit;
}

/** Runs the command and watches its memory. */
async function watched(
  folder: string,
  ...args: string[]
): Promise<{ code: number | null; stderr: string; peakRss: number }> {
  const env = cleanEnvironment({ XDG_CONFIG_HOME: machine.config, CAIRN_SERVER: hub.url, CAIRN_KEY: who.mcp_key });
  const child = spawn(process.execPath, [CAIRN, 'mirror', ...args], {
    env,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  let peakRss = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const timer = setInterval(() => {
    const status = existsSync(`/proc/${child.pid}/status`) ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
    peakRss = Math.max(peakRss, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024);
  }, 50);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(timer);
  return { code, stderr, peakRss };
}

test('[MIR-22] a bomb of 49 GiB, all that one upload can hold, ends in a sentence; little memory, nothing left', async () => {
  const bomb = zeros(7, 7);
  expect(bomb.length).toBeLessThan(50 * MiB);
  const commit = await uploadArchive(bomb);
  const folder = temporaryFolder();
  const { code, stderr, peakRss } = await watched(
    folder,
    'pull',
    '--commit',
    commit,
    '--output',
    'restored',
    '--max-size',
    '2G',
  );
  expect([code, stderr]).toEqual([7, expect.stringContaining('unpacks to more than 2.0 GiB, so nothing was restored')]);
  expect(peakRss).toBeGreaterThan(0);
  expect(peakRss).toBeLessThan(RSS_MAX);
  expect(readdirSync(folder)).toEqual([]);
}, 600_000);

test(`[MIR-22] ${RESTORED_GIB} GiB are restored within 200 MiB of memory`, async () => {
  const commit = await uploadArchive(zeros(1, RESTORED_GIB));
  const folder = temporaryFolder();
  const { code, stderr, peakRss } = await watched(folder, 'pull', '--commit', commit, '--output', 'restored');
  expect([code, stderr]).toEqual([0, '']);
  expect(statSync(join(folder, 'restored', 'zeros-0')).size).toBe(RESTORED_GIB * GiB);
  expect(peakRss).toBeLessThan(RSS_MAX);
  process.stdout.write(`peak memory: ${Math.round(peakRss / MiB)} MiB\n`);
}, 900_000);

test.each([
  [
    'an entry that leads out',
    () => gzipSync(Buffer.concat([head('../out', 0), Buffer.alloc(1024)])),
    /leads out of the folder/,
  ],
  [
    'more files than allowed',
    () => gzipSync(Buffer.concat([...Array(20)].map((_, i) => head(`f${i}`, 0)))),
    /more than 10 files/,
  ],
  [
    'a manifest of nonsense',
    () => gzipSync(Buffer.concat([head('manifest.json', 2), Buffer.from('{}'.padEnd(512, '\0'))])),
    /manifest of this archive is invalid/,
  ],
  ['no tar.gz', () => Buffer.from('no tar'), /not a tar.gz file/],
  ['a tar.gz that is cut', () => gzipSync(Buffer.concat([head('a', 5000), Buffer.alloc(512)])), /cut short/],
])('[MIR-22] an archive with %s is told, with exit code 7 and nothing left', async (_, make, sentence) => {
  const commit = await uploadArchive(make());
  const folder = temporaryFolder();
  const pulled = await machine.cairnIn(folder, 'pull', '--commit', commit, '--output', 'restored', '--max-files', '10');
  expect(pulled).toMatchObject({ code: 7, stdout: '', stderr: expect.stringMatching(sentence) });
  expect(readdirSync(folder)).toEqual([]);
});

test('[MIR-22] a huge file in a small pack is counted before it is checked out', async () => {
  const { folder } = testRepository(4096, 'huge');
  writeFileSync(join(folder, 'zeros'), Buffer.alloc(300 * MiB));
  commitFile(folder, 'a.txt', 'a\n');
  expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
  const output = temporaryFolder();
  const pulled = await machine.cairnIn(folder, 'pull', '--output', join(output, 'restored'), '--max-size', '100M');
  expect(pulled).toMatchObject({ code: 7, stderr: expect.stringContaining('more than 100 MiB') });
  expect(readdirSync(output)).toEqual([]);
}, 300_000);

test('[MIR-24] overload and cut lines: push and pull try again as Retry-After says, and end with exit code 4 when it stays', async () => {
  const relay = await startByteRelay(hub);
  const own = backupMachine(hub, await account(hub), { CAIRN_SERVER: relay.url });
  await own.cairn('init');
  const { folder } = testRepository(4096, 'retried');
  const failing = new Set<string>();
  // Each request fails three times: refused, lost after it took effect, cut within the answer.
  relay.fault = (number, line) => {
    const nth = relay.requests.slice(0, number).filter((one) => one === line).length;
    failing.add(line.split('?')[0] ?? '');
    if (nth === 0) return { refuses: { status: 503, retryAfter: '1' } };
    return nth === 1 ? { cuts: true } : undefined;
  };
  const pushed = await own.cairnIn(folder, 'push');
  expect(pushed).toMatchObject({ code: 0, stderr: expect.stringContaining('answered 503; trying again in 1 s') });
  const output = join(temporaryFolder(), 'restored');
  expect(await own.cairnIn(folder, 'pull', '--output', output)).toMatchObject({ code: 0 });
  expect(refsOf(output)).toBe(refsOf(folder));
  expect(failing.size).toBeGreaterThan(2);

  relay.fault = () => ({ refuses: { status: 503, retryAfter: '0' } });
  const before = relay.requests.length;
  expect(await own.cairn('latest')).toMatchObject({ code: 4, stdout: '' });
  expect(relay.requests.length - before).toBe(6);
  relay.fault = () => ({ refuses: { status: 507 } });
  expect(await own.cairn('latest')).toMatchObject({ code: 8 });
  relay.close();
}, 300_000);

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  '[MIR-20] an archive that was downloaded in part has no name of its own after %s, and is downloaded again',
  async (signal) => {
    const commit = await uploadArchive(randomBytes(MiB));
    const relay = await startByteRelay(hub);
    const folder = temporaryFolder();
    const env = cleanEnvironment({ XDG_CONFIG_HOME: machine.config, CAIRN_SERVER: relay.url, CAIRN_KEY: who.mcp_key });
    const args = ['backups', 'pull', '--encrypted', '--commit', commit, '--output', 'kept.age'];
    relay.fault = (_number, line) => (line.includes('/download') ? { stalls: true } : undefined);
    const child = spawn(process.execPath, [CAIRN, ...args], { env, cwd: folder, stdio: 'ignore' });
    const closed = new Promise((resolve) => child.once('close', (...ended) => resolve(ended)));
    await until(
      'bytes arrive',
      () => readdirSync(folder).some((name) => statSync(join(folder, name)).size > 0) || undefined,
    );
    child.kill(signal);
    expect(await closed).toEqual([null, signal]);
    const left = readdirSync(folder);
    expect(left).toEqual(signal === 'SIGKILL' ? [expect.stringContaining('kept.age.partial-')] : []);
    relay.fault = () => undefined;
    expect(await runCairn(args, env as Record<string, string>, '', ['env', '-C', folder])).toMatchObject({
      code: 0,
      stderr: left.map(removedFrom('.')).join(''),
    });
    expect(readdirSync(folder)).toEqual(['kept.age']);
    relay.close();
  },
);

/** What a command says when it removes what a killed one left in this folder. */
const removedFrom = (folder: string) => (name: string) =>
  `cairn: removed ${join(folder, name)}, which an interrupted command left; it was not encrypted.\n`;

/** Ends a command by a signal once `isFar`, and tells how it ended. */
async function endedBy(signal: NodeJS.Signals, args: readonly string[], env: NodeJS.ProcessEnv, isFar: () => boolean) {
  const child = spawn(process.execPath, [CAIRN, 'backups', ...args], { env, stdio: 'ignore' });
  const closed = new Promise((resolve) => child.once('close', (...ended) => resolve(ended)));
  await until('it is far enough', () => isFar() || undefined);
  child.kill(signal);
  return await closed;
}

test.each([
  ['pull', 'SIGTERM'],
  ['pull', 'SIGKILL'],
  ['drill', 'SIGINT'],
  ['drill', 'SIGKILL'],
  ['push', 'SIGINT'],
  ['push', 'SIGKILL'],
] as const)(
  '[MIR-20] a %s that ends by %s leaves nothing decrypted, or the next one removes it',
  async (command, signal) => {
    const relay = await startByteRelay(hub);
    const own = backupMachine(hub, await account(hub), { CAIRN_SERVER: relay.url });
    await own.cairn('init');
    const { folder } = testRepository(4096, 'own');
    expect((await own.cairnIn(folder, 'push')).code).toBe(0);
    commitFile(folder, 'a.txt', 'a\n');
    expect((await own.cairnIn(folder, 'push')).code).toBe(0);
    commitFile(folder, 'b.txt', 'b\n');
    // Temporary files of this test alone.
    const temporary = temporaryFolder();
    const env = cleanEnvironment({ ...own.env, TMPDIR: temporary });
    const args = {
      pull: ['pull', '--repository', 'own', '--output', join(temporary, 'out')],
      drill: ['drill'],
      push: ['push', '--repository', folder],
    }[command];
    // A pull and a drill have made the repository and applied the first archive when they wait for the second one. A push has packed.
    let downloads = 0;
    relay.fault = (_number, line) => {
      if (line.startsWith('POST')) return { refuses: { status: 503, retryAfter: '60' } };
      if (line.includes('/download')) downloads += 1;
      return downloads > 2 ? { stalls: true } : undefined;
    };
    const isFar = () =>
      readdirSync(temporary, { recursive: true }).some((name) =>
        /objects\/pack\/.*\.idx$|\.bundle$/.test(String(name)),
      );
    expect(await endedBy(signal, args, env, isFar)).toEqual([null, signal]);
    const left = readdirSync(temporary);
    expect(left).toEqual(signal === 'SIGKILL' ? [expect.stringMatching(/^(out|cairn-\w+)\.partial-/)] : []);
    relay.fault = () => undefined;
    expect(await runCairn(['backups', ...args], env as Record<string, string>)).toMatchObject({
      code: 0,
      stderr: left.map(removedFrom(temporary)).join(''),
    });
    expect(readdirSync(temporary)).toEqual(command === 'pull' ? ['out'] : []);
    relay.close();
  },
);

test('[MIR-23] a drill proves the newest backup of each repository, and tells the one that cannot be restored', async () => {
  const own = backupMachine(hub, await account(hub));
  await own.cairn('init');
  const [sound, broken] = [testRepository(4096, 'sound'), testRepository(4096, 'broken')];
  for (const { folder } of [sound, broken]) await own.cairnIn(folder, 'push');
  const drilled = await own.cairn('drill');
  expect(drilled).toMatchObject({ code: 0 });
  expect(drilled.stdout).toMatch(
    /^\d{4}-\d\d-\d\dT\S+ {2}proven {2}broken \([0-9a-f]{12}\) .*1 ref, 1 archive.*fsck --strict\n.*proven {2}sound/,
  );
  // The next one of it is encrypted for a key that nobody has here.
  const foreign = backupMachine(hub, await account(hub));
  await foreign.cairn('init');
  const recipient = /age1\w+/.exec((await foreign.cairn('init')).stdout)?.[0] ?? '';
  await own.cairnIn(broken.folder, 'push', '--recipient', recipient);
  const failed = await own.cairn('drill', '--json');
  expect(failed.code).toBe(7);
  const { drills } = JSON.parse(failed.stdout) as { drills: Record<string, string>[] };
  expect(drills).toMatchObject([
    { repository_label: 'broken', outcome: 'failed', detail: expect.stringContaining('cannot be decrypted') },
    { repository_label: 'sound', outcome: 'proven' },
  ]);
}, 300_000);
