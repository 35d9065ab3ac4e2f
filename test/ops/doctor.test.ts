/** cairn doctor on hubs that lack something: each is one line that says what to do. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join, relative } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { birthOf } from '../../src/client/process-birth.ts';
import { askControl } from '../../src/control/socket.ts';
import { selfSigned } from '../support/certificate.ts';
import { clockAhead } from '../support/clock.ts';
import { runCairn, startHub } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder = '';
beforeEach(async () => {
  folder = temporaryFolder();
  const made = await runCairn(['account', 'create', '--email', 'you@example.org'], { CAIRN_DATA: folder });
  expect(made.code).toBe(0);
});

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly text: string;
}

/** A file that was not written to for an hour. */
function longAgo(file: string): void {
  const at = Date.now() / 1000 - 3600;
  utimesSync(file, at, at);
}

async function examine(env: Record<string, string> = {}, wrapper: readonly string[] = []) {
  const { code, stdout } = await runCairn(['doctor', '--json'], { CAIRN_DATA: folder, ...env }, '', wrapper);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  expect(code).toBe(findings.some(({ level }) => level === 'wrong') ? 1 : 0);
  return (check: string) => findings.filter((finding) => finding.check === check);
}

test('[OPS-17] nothing is wrong with a new hub, and it is told to make a backup; after two days that is wrong', async () => {
  const before = await runCairn(['doctor'], { CAIRN_DATA: folder });
  expect(before.code, before.stdout).toBe(0);
  expect(before.stdout).toMatch(/^note +backup .*; run `cairn backup DIR`/m);
  expect((await examine(clockAhead(3 * 24 * 3_600_000)))('backup')[0]?.level).toBe('wrong');
  const backup = await runCairn(['backup', join(temporaryFolder(), 'one')], { CAIRN_DATA: folder });
  expect(backup.code).toBe(0);
  const after = await runCairn(['doctor'], { CAIRN_DATA: folder });
  expect(after.code, after.stdout).toBe(0);
  expect(after.stdout).toMatch(/^ok +backup +less than a day ago$/m);
});

test('[OPS-17] rights, limits, age of a backup and of the clock', async () => {
  chmodSync(join(folder, 'master.key'), 0o644);
  const old = Date.now() - 9 * 24 * 3_600_000;
  writeFileSync(join(folder, 'last-backup'), JSON.stringify({ at_ms: old, problems: 0 }));
  writeFileSync(join(folder, 'last-verify'), JSON.stringify({ at_ms: old, problems: 3 }));
  const of = await examine({}, ['prlimit', '--nofile=512']);
  expect(of('master key')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('chmod 600') });
  expect(of('open files')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('LimitNOFILE') });
  expect(of('backup')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('9 days ago') });
  expect(of('verify')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('3 problems') });
  expect(of('clock')[0]).toMatchObject({ level: 'ok' });
});

test('[OPS-17] what interrupted commands left is named, with how to remove it; what one makes now, and other folders, are not', async () => {
  const place = join(temporaryFolder(), "Ada's disk");
  mkdirSync(place);
  const gone = '4194304 elsewhere 0b6d1c3e-0000-4000-8000-000000000000 1';
  for (const [name, mark] of [
    ['archive.partial-0a1b2c3d', gone],
    ['backup.partial-wD1jHg', gone],
    ['other.partial-0a1b2c3d', undefined],
    ['book', gone],
  ] as const) {
    mkdirSync(join(place, name));
    if (mark !== undefined) writeFileSync(join(place, name, 'maker'), mark);
  }
  for (const name of ['archive.partial-0a1b2c3d', 'backup.partial-wD1jHg', 'book']) longAgo(join(place, name, 'maker'));
  const of = await examine({ TMPDIR: place });
  expect(of('leftovers')).toMatchObject(
    ['archive.partial-0a1b2c3d', 'backup.partial-wD1jHg'].map((name) => ({
      level: 'note',
      text: expect.stringMatching(new RegExp(`^.*${name} was left by an interrupted command .*rm -r `)),
    })),
  );
  writeFileSync(
    join(place, 'archive.partial-0a1b2c3d', 'maker'),
    `${process.pid} ${hostname()} a ${birthOf(process.pid)}`,
  );
  const left = (await examine({ TMPDIR: place }))('leftovers').map(({ text }) => text);
  expect(left).toEqual([expect.stringContaining('backup.partial-wD1jHg was left')]);
  // What it says works as it stands, in a path with a space and an apostrophe.
  execFileSync('sh', ['-c', left[0]?.split('remove it: ')[1] ?? '']);
  expect(readdirSync(place).toSorted()).toEqual(['archive.partial-0a1b2c3d', 'book', 'other.partial-0a1b2c3d']);
});

test('[OPS-17] a master key that is gone under a running hub is told, while it can be put back without a stop', async () => {
  const hub = await startHub({ dataFolder: folder });
  const [path, kept] = [join(folder, 'master.key'), join(temporaryFolder(), 'master.key')];
  renameSync(path, kept);
  const gone = (await examine())('master key');
  expect(gone).toEqual([{ check: 'master key', level: 'note', text: expect.stringContaining(`there is no ${path}.`) }]);
  expect(gone[0]?.text).toContain('put your copy of the file back');
  const set = await examine({ CAIRN_MASTER_KEY: readFileSync(kept, 'utf8').trim() });
  expect(set('master key')).toMatchObject([{ level: 'ok' }]);
  renameSync(kept, path);
  expect((await examine())('master key')).toMatchObject([{ level: 'ok' }]);
  expect(await hub.stop()).toBe(0);
});

test('[OPS-17, OPS-6] a restore that was interrupted is told as such, not as a folder that wants a new hub', async () => {
  const into = temporaryFolder();
  mkdirSync(join(into, 'restoring'));
  const again = 'a restore into CAIRN_DATA was interrupted; run `cairn restore` again';
  const { findings } = JSON.parse((await runCairn(['doctor', '--json'], { CAIRN_DATA: into })).stdout) as {
    findings: Finding[];
  };
  expect(findings.find(({ check }) => check === 'data')?.text).toContain(again);
  for (const command of ['verify', 'compact', 'stats'])
    expect((await runCairn([command], { CAIRN_DATA: into })).stderr).toContain(again);
});

test('[OPS-6] a restore of a backup with a newer one of this hub beside it names that one; a time that was asked for does not', async () => {
  const parent = temporaryFolder();
  const backup = async (name: string) =>
    expect((await runCairn(['backup', '--with-key', join(parent, name)], { CAIRN_DATA: folder })).code).toBe(0);
  const restore = async (...args: string[]) => {
    const into = temporaryFolder();
    const done = await runCairn(['restore', ...args], { CAIRN_DATA: into });
    expect(done.code, done.stderr).toBe(0);
    return { into, told: done.stderr };
  };
  await backup('one');
  await backup('two');
  const older = await restore(join(parent, 'one'));
  expect(older.told).toMatch(new RegExp(`${join(parent, 'two')} beside it is newer, of 20.*into another empty folder`));
  expect((await restore(join(parent, 'two'))).told).toBe('');
  expect((await restore('--at', 'now', parent)).told).toBe('');
  // A hub that was restored goes its own way: its backups are not newer ones of the first.
  const own = await runCairn(['backup', join(parent, 'three')], { CAIRN_DATA: older.into });
  expect(own.code).toBe(0);
  expect((await restore(join(parent, 'two'))).told).toBe('');
});

test('[OPS-17] TLS, the proxy in front, the public address and sign-up', async () => {
  const open = await examine({ CAIRN_HOST: '0.0.0.0', CAIRN_SIGNUP: 'open', CAIRN_TRUSTED_PROXIES: '0.0.0.0/0' });
  expect(open('tls')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('unencrypted') });
  expect(open('proxy')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('0.0.0.0/0') });
  expect(open('sign-up')[0]).toMatchObject({ level: 'note', text: expect.stringContaining('CAIRN_SIGNUP') });
  const front = await examine({ CAIRN_PUBLIC_URL: 'https://127.0.0.1:59999' });
  expect(front('proxy')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('CAIRN_TRUSTED_PROXIES') });
  expect(front('public address')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('ECONNREFUSED') });
  const { cert, key } = selfSigned();
  const own = await examine({ CAIRN_TLS_CERT: cert, CAIRN_TLS_KEY: key });
  expect(own('tls')[0]?.text).toMatch(/the certificate expires in \d+ days/);
  const none = await examine({ CAIRN_TLS_CERT: join(folder, 'none.pem'), CAIRN_TLS_KEY: key });
  expect(none('tls')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('CAIRN_TLS_CERT') });
});

test('[OPS-17] a wrong setting, a missing or damaged data file and another key are findings too', async () => {
  expect((await examine({ CAIRN_POTR: '1' }))('settings')[0]?.text).toContain('did you mean CAIRN_PORT');
  expect((await examine({ CAIRN_DATA: temporaryFolder() }))('data')[0]).toMatchObject({ level: 'wrong' });
  const file = join(folder, 'master.key');
  expect((await examine({ CAIRN_DATA: file }))('data')[0]?.text).toContain(`(${file}) is a file`);
  expect((await examine({ CAIRN_MASTER_KEY: 'ab'.repeat(32) }))('data')[0]?.text).toContain('another master key');
  truncateSync(join(folder, 'cairn.mdb'), 5000);
  expect((await examine())('data')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('cairn.mdb') });
});

test('[OPS-17] a running hub is examined with its own settings and limits, and no secret leaves it', async () => {
  expect((await examine())('settings')[0]).toMatchObject({
    level: 'note',
    text: expect.stringContaining('no hub runs'),
  });
  const masterKey = readFileSync(join(folder, 'master.key'), 'utf8').trim();
  rmSync(join(folder, 'master.key'));
  const hub = await startHub({
    dataFolder: folder,
    env: {
      CAIRN_MASTER_KEY: masterKey,
      CAIRN_TRUSTED_PROXIES: '127.0.0.1,::/0',
      CAIRN_METRICS_TOKEN: 'a-secret-of-metrics',
      CAIRN_PUBLIC_URL: 'http://127.0.0.1:59999',
      CAIRN_SMTP_URL: 'smtp://127.0.0.1:59998',
      CAIRN_MAIL_FROM: 'hub@example.org',
    },
    wrapper: ['prlimit', '--nofile=2000'],
  });
  const inShell = await examine({ CAIRN_SIGNUP: 'closed', CAIRN_DATA: relative(process.cwd(), folder) });
  expect(inShell('proxy')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('::/0') });
  expect(inShell('open files')[0]).toMatchObject({ level: 'wrong', text: expect.stringContaining('2000 open files') });
  expect(inShell('data')[0]).toMatchObject({ level: 'ok' });
  expect(inShell('sign-up')[0]?.text).toBe('invite');
  const [settings] = inShell('settings');
  expect(settings).toMatchObject({ level: 'note', text: expect.stringContaining(`process ${hub.process.pid}`) });
  expect(settings?.text).toContain('does not use the CAIRN_SIGNUP of this shell');
  expect((await examine())('settings')).toMatchObject([{ level: 'ok' }]);
  const told = await askControl(folder, JSON.stringify({ command: 'settings' }));
  expect(JSON.parse(told ?? '')).toMatchObject({
    ok: true,
    result: { given: { CAIRN_PUBLIC_URL: 'http://127.0.0.1:59999' } },
  });
  for (const secret of [masterKey, 'a-secret-of-metrics', 'smtp:']) expect(told).not.toContain(secret);
  expect(await hub.stop()).toBe(0);
});
