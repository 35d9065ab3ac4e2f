/** `cairn backup` on a bad day: killed, beside another one, or on a disk that becomes full. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CAIRN, type CommandResult, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { canUnshare } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 1024 * 1024;
const PAGE = 4096;
const HOUR_MS = 3_600_000;
let hub: Hub;
let env: Record<string, string>;
let dataBytes: number;

beforeAll(async () => {
  hub = await startHub();
  const who = await mirrorAccount(hub);
  for (let blob = 0; blob < 24; blob += 1) {
    expect((await upload(hub, who, randomCommit(), randomBytes(MIB))).status).toBe(200);
  }
  await hub.stop();
  env = { CAIRN_DATA: hub.dataFolder };
  dataBytes = statSync(join(hub.dataFolder, 'cairn.mdb')).size;
}, 60_000);
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await hub.kill();
});

const partials = (folder: string): string[] => readdirSync(folder).filter((name) => name.includes('.partial-'));

interface Begun {
  readonly child: ChildProcess;
  /** Its folder, until it is complete. */
  readonly partial: string;
  readonly ended: Promise<number | null>;
  readonly errors: () => string;
}

/** Begins a backup, and sends it a signal as soon as it copies: one that was complete before that is begun again. */
async function begin(folder: string, name: string, signal: NodeJS.Signals): Promise<Begun> {
  for (;;) {
    const begun = await beginOnce(folder, name, signal);
    if (existsSync(join(folder, begun.partial))) return begun;
    begun.child.kill('SIGKILL');
    await begun.ended;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

async function beginOnce(folder: string, name: string, signal: NodeJS.Signals): Promise<Begun> {
  const seen = new Promise<string>((resolve) => {
    const names = watch(folder, (_event, found) => {
      if (found?.startsWith(`${name}.partial-`) !== true) return;
      names.close();
      resolve(found);
    });
  });
  const child = spawn(process.execPath, [CAIRN, 'backup', '--with-key', join(folder, name)], {
    env: cleanEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const partial = await seen;
  const path = join(folder, partial);
  await until('it writes', () => !existsSync(path) || existsSync(join(path, 'cairn.mdb')) || undefined);
  child.kill(signal);
  return { child, partial, ended, errors: () => errors };
}

/** As if nothing had been written there for so many hours. */
function age(folder: string, hours: number): void {
  const at = new Date(Date.now() - hours * HOUR_MS);
  for (const path of [...readdirSync(folder).map((name) => join(folder, name)), folder]) utimesSync(path, at, at);
}

async function backUp(folder: string, ...more: string[]): Promise<void> {
  expect(await runCairn(['backup', '--with-key', ...more, folder], env)).toMatchObject({ code: 0, stderr: '' });
}

const restoreAt = (...from: string[]): Promise<CommandResult> =>
  runCairn(['restore', '--json', '--at', ...from], { CAIRN_DATA: temporaryFolder() });

/** A backup that is stopped in the middle of its copy: one that was quicker is begun again. */
async function stoppedCopy(folder: string): Promise<Begun> {
  for (;;) {
    const begun = await begin(folder, 'monday', 'SIGSTOP');
    if (statSync(join(folder, begun.partial, 'cairn.mdb')).size < dataBytes) return begun;
    begun.child.kill('SIGKILL');
    await begun.ended;
    rmSync(join(folder, begun.partial), { recursive: true });
  }
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '[OPS-6] a backup that ends by %s while it copies leaves nothing',
  async (signal) => {
    const backups = temporaryFolder();
    const { child, ended } = await stoppedCopy(backups);
    for (const one of [signal, 'SIGCONT'] as const) child.kill(one);
    expect(await ended).toBe(null);
    expect(readdirSync(backups)).toEqual([]);
  },
);

test('[OPS-6, OPS-11] a backup removes what one killed on this machine left, what another left hours ago, and nothing else', async () => {
  const backups = temporaryFolder();
  const killed = await begin(backups, 'monday', 'SIGKILL');
  await killed.ended;
  // Those of another machine, boot or container say nothing of their process here.
  const [old, recent] = ['old.partial-a1b2c3', 'recent.partial-a1b2c3'].map((name) => join(backups, name));
  for (const [name, hours] of [
    [old, 13],
    [recent, 11],
  ] as const) {
    cpSync(join(backups, killed.partial), name ?? '', { recursive: true });
    const maker = join(name ?? '', 'maker');
    writeFileSync(maker, readFileSync(maker, 'utf8').replace(/[0-9a-f]+\//, 'elsewhere/'));
    age(name ?? '', hours);
  }
  // One that still writes: its folder is older than its files.
  const writes = join(backups, 'writes.partial-a1b2c3');
  mkdirSync(writes);
  writeFileSync(join(writes, 'cairn.mdb'), '');
  utimesSync(writes, new Date(0), new Date(0));
  // Of another program, and not a folder.
  const photos = join(backups, 'photos.partial-a1b2c3');
  mkdirSync(photos);
  writeFileSync(join(photos, 'one.jpg'), '');
  age(photos, 1000);
  writeFileSync(join(backups, 'file.partial-a1b2c3'), '');
  utimesSync(join(backups, 'file.partial-a1b2c3'), new Date(0), new Date(0));
  // That of a clock that was days ahead.
  const ahead = join(backups, 'ahead.partial-a1b2c3');
  mkdirSync(ahead);
  age(ahead, -48);
  await backUp(join(backups, 'wednesday'));
  expect(partials(backups).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'file.partial-a1b2c3',
    'photos.partial-a1b2c3',
    'recent.partial-a1b2c3',
    'writes.partial-a1b2c3',
  ]);
  expect(readdirSync(photos)).toEqual(['one.jpg']);
}, 120_000);

test('[OPS-6] of two backups at once neither removes the other, and one whose folder was removed gives no half a backup its name', async () => {
  const backups = temporaryFolder();
  const [kept, lost] = [await begin(backups, 'kept', 'SIGSTOP'), await begin(backups, 'lost', 'SIGSTOP')];
  age(join(backups, lost.partial), 13);
  await backUp(join(backups, 'other'));
  expect(partials(backups)).toEqual([kept.partial]);
  for (const { child } of [kept, lost]) child.kill('SIGCONT');
  expect([await kept.ended, await lost.ended]).toEqual([0, 1]);
  expect(lost.errors()).toMatch(/^cairn: the backup could not be written to .*lost: /);
  expect(readdirSync(backups).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['kept', 'other']);
}, 120_000);

test('[OPS-6, OPS-11] a follower removes what its own interrupted copies left, and not that of a backup that runs', async () => {
  const backups = temporaryFolder();
  const running = await begin(backups, 'running', 'SIGSTOP');
  const own = join(backups, '2026-03-01T12-00-00.000Z.partial-a1b2c3');
  mkdirSync(own);
  const follower = spawn(process.execPath, [CAIRN, 'follow', '--with-key', backups], {
    env: cleanEnvironment(env),
    stdio: 'ignore',
  });
  children.push(follower);
  await until('a whole copy', () =>
    readdirSync(backups).some((name) => existsSync(join(backups, name, 'journal.ndjson'))) ? true : undefined,
  );
  follower.kill('SIGKILL');
  expect(partials(backups)).toEqual([running.partial]);
  running.child.kill('SIGCONT');
  expect(await running.ended).toBe(0);
}, 120_000);

test('[OPS-11] half a backup is not taken for one by restore --at, whatever is in its folder', async () => {
  const backups = temporaryFolder();
  await backUp(join(backups, 'first'));
  const madeAt = String(JSON.parse(readFileSync(join(backups, 'first', 'manifest.json'), 'utf8')).made_at);
  for (const [name, manifest] of [
    ['a.partial-a1b2c3', '{"form'],
    [
      'b.partial-a1b2c3',
      readFileSync(join(backups, 'first', 'manifest.json'), 'utf8').replace(madeAt, new Date().toISOString()),
    ],
  ] as const) {
    mkdirSync(join(backups, name));
    writeFileSync(join(backups, name, 'manifest.json'), manifest);
  }
  const done = await restoreAt('now', backups);
  expect([done.code, done.stderr]).toEqual([0, '']);
  expect(JSON.parse(done.stdout).made_at).toBe(madeAt);
}, 60_000);

test.runIf(canUnshare)(
  '[OPS-6, OPS-11] a backup whose disk becomes full, wherever it ends, says what it needs, leaves the earlier ones, and works once there is room',
  { timeout: 240_000 },
  async () => {
    const earlier = temporaryFolder();
    await backUp(join(earlier, 'monday'));
    const disk = temporaryFolder();
    const inDisk = join(disk, 'b');
    /** On a disk that has so many bytes free beside the backup of monday; then again with enough room. */
    const onDisk = (free: number) => [
      'unshare',
      '-rm',
      'sh',
      '-c',
      `mount -t tmpfs -o size=256m tmpfs "${disk}" && cp -r "${earlier}" "${inDisk}" && used=$(df -k --output=used "${disk}" | tail -n 1) && mount -o remount,size=$((used + ${free / 1024}))k "${disk}" || exit 90
"$@" > "${disk}.1" 2> "${disk}.2"; echo $? > "${disk}.3"; ls -R "${inDisk}" > "${disk}.4"
mount -o remount,size=256m "${disk}"; "$@" > /dev/null 2>> "${disk}.2" || exit 91
cp -r "${inDisk}" "${disk}.after"`,
      'sh',
    ];
    const told = (part: number) => readFileSync(`${disk}.${part}`, 'utf8');
    // In the middle of the copy, at its end, and where it is opened.
    for (const free of [dataBytes / 2, dataBytes, dataBytes + 4 * PAGE, dataBytes + 16 * PAGE].map(
      (bytes) => Math.floor(bytes / PAGE) * PAGE,
    )) {
      const again = await runCairn(['backup', '--keep', '1', join(inDisk, 'tuesday')], env, '', onDisk(free));
      expect([free - dataBytes, again.code]).toEqual([free - dataBytes, 0]);
      expect([free - dataBytes, told(3), told(2)]).toEqual([
        free - dataBytes,
        '1\n',
        expect.stringMatching(
          new RegExp(
            `^cairn: the backup could not be written to ${inDisk}/tuesday: its disk is full; free some space there, or name a folder on another disk\\. The backup needs more than ${dataBytes} bytes, and \\d+ are free\\.\n$`,
          ),
        ),
      ]);
      expect(told(4)).toBe(`${inDisk}:\nmonday\n\n${inDisk}/monday:\ncairn.mdb\nmanifest.json\nmaster.key\n`);
      const after = `${disk}.after`;
      expect(readdirSync(after)).toEqual(['tuesday']);
      cpSync(join(hub.dataFolder, 'master.key'), join(after, 'tuesday', 'master.key'));
      expect(await restoreAt('now', after)).toMatchObject({ code: 0, stderr: '' });
      rmSync(after, { recursive: true });
    }
  },
);

test.runIf(canUnshare)(
  '[OPS-6] a restore whose disk becomes full, wherever it ends, says so and leaves nothing',
  { timeout: 120_000 },
  async () => {
    const backup = join(temporaryFolder(), 'backup');
    await backUp(backup);
    const disk = temporaryFolder();
    for (const pages of [-PAGE / 2, 0, 4, 20]) {
      const kibibytes = Math.floor(dataBytes / 1024) + (pages * PAGE) / 1024;
      const mounted = `mount -t tmpfs -o size=${kibibytes}k tmpfs "${disk}" && "$@"; code=$?; find "${disk}" -type f >&2; exit $code`;
      const into = { CAIRN_DATA: join(disk, 'd') };
      const done = await runCairn(['restore', backup], into, '', ['unshare', '-rm', 'sh', '-c', mounted, 'sh']);
      expect([pages, done.code, done.stderr]).toEqual([
        pages,
        1,
        'cairn: the backup could not be copied: its disk is full; free some space there, or name a folder on another disk.\n',
      ]);
    }
  },
);
