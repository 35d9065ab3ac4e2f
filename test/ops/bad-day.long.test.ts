/** What an operator meets on a bad day: each command says one sentence with what to do, and keeps what is whole. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../support/gateway.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { plainly } from '../support/plainly.ts';
import { canUnshare } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT_MAPPED = ['unshare', '-rm', 'sh', '-c'];
const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

let hub: Hub;
let email = '';
/** The settings of the hub, which is stopped. */
let env: Record<string, string>;

beforeAll(async () => {
  hub = await startHub();
  ({ email } = await account(hub));
  env = { CAIRN_DATA: hub.dataFolder };
});
afterAll(() => hub.kill());

const oneSentence = (text: string): boolean => /^cairn: [^\n]+[.]\n$/.test(text);
const readOnly = [
  ...ROOT_MAPPED,
  'mount --bind "$CAIRN_DATA" "$CAIRN_DATA" && mount -o remount,ro,bind "$CAIRN_DATA" && exec "$@"',
  'sh',
];

test('[OPS-2, OPS-11] beside a running service: a second one, a restore and a new key are refused', async () => {
  const backup = join(temporaryFolder(), 'backup');
  expect((await hub.cli('backup', backup)).code).toBe(0);
  for (const args of [['serve'], ['restore', backup], ['rekey']]) {
    const { code, stderr } = await hub.cli(...args);
    expect([args[0], code, oneSentence(stderr)]).toEqual([args[0], 1, true]);
    expect(stderr).toContain('stop it first');
  }
  expect(await hub.stop()).toBe(0);
});

test('[OPS-2] of several services that start at once after a kill -9, one gets the folder', async () => {
  const dataFolder = temporaryFolder();
  await (await startHub({ dataFolder })).kill();
  // Left by one that was killed while it took the folder over.
  const mark = join(dataFolder, 'control.takeover');
  mkdirSync(mark);
  utimesSync(mark, 1000, 1000);
  const starts = await Promise.allSettled(Array.from({ length: 3 }, () => startHub({ dataFolder })));
  const hubs = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const refused = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []));
  const sentence = expect.stringContaining('another cairn process has this data folder') as string;
  expect([hubs.length, refused]).toEqual([1, [sentence, sentence]]);
  expect(existsSync(mark)).toBe(false);
  expect(await hubs[0]?.stop()).toBe(0);
}, 180_000);

test('[OPS-2] a start soon after one that was killed while it took the folder over waits and succeeds', async () => {
  const dataFolder = temporaryFolder();
  await (await startHub({ dataFolder })).kill();
  mkdirSync(join(dataFolder, 'control.takeover'));
  const hub = await startHub({ dataFolder });
  expect(await hub.stop()).toBe(0);
});

test('[OPS-13] an account is exported without a service, and noted in the audit log', async () => {
  const folder = join(temporaryFolder(), 'archive');
  const { code, stderr } = await runCairn(['export', '--email', email, folder], env);
  expect([code, stderr]).toEqual([0, '']);
  expect(existsSync(join(folder, 'manifest.json'))).toBe(true);
  expect((await runCairn(['audit', '--email', email], env)).stdout).toContain('exported');
});

test.runIf(canUnshare)(
  '[OPS-13, OPS-17] on a read-only disk what only reads works, and the rest says why it does not',
  async () => {
    const archive = join(temporaryFolder(), 'archive');
    const exported = await runCairn(['export', '--email', email, archive], env, '', readOnly);
    expect([exported.code, oneSentence(exported.stderr)]).toEqual([0, true]);
    expect(exported.stderr).toMatch(/the archive is complete; .*its file system is read-only/);
    expect(existsSync(join(archive, 'manifest.json'))).toBe(true);
    expect(await runCairn(['backup', join(temporaryFolder(), 'b')], env, '', readOnly)).toMatchObject({ code: 0 });
    expect(await runCairn(['verify'], env, '', readOnly)).toMatchObject({ code: 0 });
    for (const args of [['serve'], ['compact'], ['rekey'], ['account', 'list']]) {
      const { code, stderr } = await runCairn(args, env, '', readOnly);
      expect([args[0], code, oneSentence(stderr)]).toEqual([args[0], 1, true]);
      expect(stderr).toContain('its file system is read-only; mount it for writing');
    }
    const doctor = await runCairn(['doctor'], env, '', readOnly);
    expect(doctor.stdout).toMatch(/^wrong +permissions .*read-only; mount it for writing/m);
  },
);

test.runIf(isRoot)(
  '[OPS-17] a data folder of another user is said to be one, and by whom to run the command',
  async () => {
    const asNobody = ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
    chmodSync(hub.dataFolder, 0o700);
    for (const args of [['verify'], ['stats'], ['doctor']]) {
      const { code, stdout, stderr } = await runCairn(args, env, '', asNobody);
      expect([code, `${stdout}${stderr}`]).toEqual([
        1,
        expect.stringContaining('run the command as the user of the hub'),
      ]);
    }
    const served = await runCairn(['serve'], env, '', asNobody);
    expect([served.code, oneSentence(served.stderr)]).toEqual([1, true]);
  },
);

test.each(['cairn.mdb', 'cairn.mdb-lock'])(
  '[OPS-9] %s that this user cannot write, as a command of another user leaves it, is said to be one',
  async (name) => {
    const path = join(hub.dataFolder, name);
    expect(existsSync(path)).toBe(true);
    chmodSync(path, 0o400);
    for (const args of [['serve'], ['account', 'list'], ['rekey']]) {
      const { code, stderr } = await runCairn(args, env, '', plainly);
      expect([args[0], code, stderr, oneSentence(stderr)]).toEqual([args[0], 1, stderr, true]);
      expect(stderr).toContain(`${name} cannot be written to: this user lacks the permission; run the command as`);
    }
    const doctor = await runCairn(['doctor'], env, '', plainly);
    expect(doctor.stdout).toMatch(new RegExp(`^wrong +permissions .*${name} cannot be written to`, 'm'));
    chmodSync(path, 0o600);
    expect((await runCairn(['account', 'list'], env, '', plainly)).code).toBe(0);
  },
);

test.runIf(canUnshare)(
  '[OPS-2, AUD-2] a hub starts on a full disk, also with other settings; a later start records them',
  async () => {
    const [filled, dataFolder] = [temporaryFolder(), temporaryFolder()];
    const made = await startHub({ dataFolder: filled });
    const owner = await account(made);
    expect((await callTool(made, 'create_task', { content: 'kept' }, owner.mcp_key)).error).toBeUndefined();
    await made.stop();
    const onFullDisk = 'mount -t tmpfs -o size=8m tmpfs "$CAIRN_DATA" && cp "$FILLED"/* "$CAIRN_DATA" && exec "$@"';
    const full = await startHub({
      dataFolder,
      env: { FILLED: filled, CAIRN_SIGNUP: 'closed' },
      wrapper: [...ROOT_MAPPED, onFullDisk, 'sh'],
    });
    expect(JSON.stringify(await callTool(full, 'list_tasks', {}, owner.mcp_key))).toContain('kept');
    expect(JSON.stringify(await callTool(full, 'create_task', { content: 'no' }, owner.mcp_key))).toContain(
      'disk is full',
    );
    expect((await fetch(`${full.url}/ready`)).status).toBe(503);
    await full.waitForLog(({ msg }) => String(msg).includes('the disk is full, so the hub did not record'));
    expect(await full.stop()).toBe(0);
    const later = await startHub({ dataFolder: filled, env: { CAIRN_SIGNUP: 'closed' } });
    expect((await later.cli('audit')).stdout).toContain('CAIRN_SIGNUP set to closed');
    await later.stop();
  },
  180_000,
);

test('[OPS-10] a master key, and a backup, that this user cannot read are told from others', async () => {
  const backup = join(temporaryFolder(), 'backup');
  expect((await runCairn(['backup', '--with-key', backup], env)).code).toBe(0);
  const key = join(hub.dataFolder, 'master.key');
  chmodSync(key, 0o000);
  for (const args of [['serve'], ['verify'], ['backup', join(temporaryFolder(), 'b')], ['account', 'list']]) {
    const { code, stderr } = await runCairn(args, env, '', plainly);
    expect([args[0], code, oneSentence(stderr)]).toEqual([args[0], 1, true]);
    expect(stderr).toContain('master.key cannot be read: this user lacks the permission; run the command as the user');
  }
  expect((await runCairn(['doctor'], env, '', plainly)).stdout).toMatch(/^wrong +data .*master\.key cannot be read/m);
  chmodSync(key, 0o600);
  const into = { CAIRN_DATA: join(temporaryFolder(), 'restored') };
  for (const [path, what] of [
    [join(backup, 'cairn.mdb'), 'the backup could not be copied: this user lacks the permission'],
    [join(backup, 'manifest.json'), 'manifest.json cannot be used: this user lacks the permission'],
    [backup, `${backup} cannot be used: this user lacks the permission`],
  ] as const) {
    chmodSync(path, 0o000);
    const { code, stderr } = await runCairn(['restore', backup], into, '', plainly);
    expect([path, code, oneSentence(stderr)]).toEqual([path, 1, true]);
    expect(stderr).toContain(what);
    chmodSync(path, 0o755);
  }
  // Whatever others may read of the backup: what is restored is private.
  expect((await runCairn(['restore', backup], into)).code).toBe(0);
  expect(statSync(join(into.CAIRN_DATA, 'cairn.mdb')).mode & 0o777).toBe(0o600);
});

test('[OPS-10] a backup under the wrong key says that it is the key', async () => {
  const other = { ...env, CAIRN_MASTER_KEY: 'ab'.repeat(32) };
  const { code, stderr } = await runCairn(['backup', join(temporaryFolder(), 'b')], other);
  expect([code, oneSentence(stderr)]).toEqual([1, true]);
  expect(stderr).toMatch(
    /another master key, so nothing was kept; set CAIRN_MASTER_KEY or put the right master\.key back/,
  );
});

test.runIf(canUnshare)(
  '[OPS-10] a backup, an archive, a copy and a restore onto a full disk say so and leave nothing',
  async () => {
    const full = temporaryFolder();
    const backup = join(temporaryFolder(), 'backup');
    expect((await runCairn(['backup', '--with-key', backup], env)).code).toBe(0);
    const onFull = [
      ...ROOT_MAPPED,
      `mount -t tmpfs -o size=4k tmpfs "${full}" && head -c 4096 /dev/zero > "${full}/filler" && "$@"; code=$?; find "${full}" -type f ! -name filler >&2; exit $code`,
      'sh',
    ];
    const needs = ' The backup needs more than \\d+ bytes, and 0 are free\\.';
    for (const [args, more] of [
      [['backup', join(full, 'b')], needs],
      [['export', '--email', email, join(full, 'e')], ''],
      [['follow', join(full, 'f')], needs],
    ] as const) {
      const { code, stderr } = await runCairn(args, env, '', onFull);
      expect([args[0], code, stderr]).toEqual([
        args[0],
        1,
        expect.stringMatching(
          new RegExp(
            `^cairn: [^\n]*disk is full; free some space there, or name a folder on another disk\\.${more}\n$`,
          ),
        ),
      ]);
    }
    const restored = await runCairn(['restore', backup], { CAIRN_DATA: join(full, 'd') }, '', onFull);
    expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining('disk is full; free some space')]);
  },
);

test.runIf(canUnshare)(
  '[OPS-11] a new key, a compaction and a check on a full data disk say so, and change and leave nothing',
  async () => {
    const full = temporaryFolder();
    const data = join(full, 'data');
    const onFull = [
      ...ROOT_MAPPED,
      `mount -t tmpfs -o size=3m tmpfs "${full}" && cp -r "${hub.dataFolder}" "${data}" && { head -c 4m /dev/zero > "${full}/filler"; ls "${data}" > /dev/null; "$@"; code=$?; ls "${data}" >&2; exit $code; } 2>&1`,
      'sh',
    ];
    for (const [command, code] of [
      ['rekey', 1],
      ['compact', 1],
      ['verify', 0],
    ] as const) {
      const done = await runCairn([command], { CAIRN_DATA: data }, '', onFull);
      expect([command, done.code, done.stdout]).toEqual([
        command,
        code,
        expect.not.stringMatching(/\n +at |\.new$|\.next$/m),
      ]);
      if (code === 1) expect(done.stdout).toMatch(/^cairn: [^\n]*(disk is full|free some)/m);
    }
  },
);

test('[OPS-10] a bit that flips where no hash is, is told by verify, and the hub and its backup go on', async () => {
  const mark = 'a name that no hash covers';
  const again = await startHub({ dataFolder: hub.dataFolder });
  const person = await account(again);
  for (const content of [mark, 'another']) await callTool(again, 'create_task', { content }, person.mcp_key);
  await again.stop();
  expect((await runCairn(['verify'], env)).code).toBe(0);
  const path = join(hub.dataFolder, 'cairn.mdb');
  const bytes = readFileSync(path);
  // The place of the live row, and of pages that nothing reaches any more.
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const { code, stdout } = await runCairn(['verify'], env);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^damaged: page \d+ of table tasks: its bytes have changed on the disk$/m),
  ]);
  expect(stdout).toContain('`cairn restore DIR` (into an empty folder) brings back an earlier state');
  // It is told until it is mended.
  expect((await runCairn(['verify'], env)).code).toBe(1);
  // A backup is made, and its exit code tells of the damage.
  expect((await runCairn(['backup', join(temporaryFolder(), 'b')], env)).code).toBe(1);
  hub = await startHub({ dataFolder: hub.dataFolder });
  expect((await fetch(`${hub.url}/health`)).status).toBe(200);
});
