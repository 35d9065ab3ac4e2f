/** Imports that are cut off in the middle: nothing of them counts, nothing of them stays, and the next one makes the account. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { until, verified } from '../support/mirror-state.ts';
import { exported, fullAccount, imported, importInto, linesOf, rewrite, rowsOf, textOf } from '../support/portable.ts';
import { canUnshare, startHubOnSmallDisk } from '../support/small-disk.ts';
import { gitShaOf, sha256Of } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FILES = 25_000;
/** Each starts hubs and runs commands, which takes long on a busy machine. */
const TEST_MS = 180_000;
const sound = { code: 0, ok: true, staged_uploads: 0, staged_contents: 0, problems: [] };

let folder: string;
let email: string;
const hubs: Hub[] = [];
const commands: ChildProcess[] = [];
beforeAll(async () => {
  const from = await start();
  const owner = await fullAccount(from);
  email = owner.email;
  const small = await exported(from, email);
  folder = join(temporaryFolder(), 'large');
  cpSync(small.folder, folder, { recursive: true });
  rewrite(folder, 'vaults', `${textOf(linesOf(folder, 'vaults'))}${manyFiles()}`);
  await from.stop();
});
afterEach(async () => {
  for (const command of commands.splice(0)) command.kill('SIGKILL');
  await Promise.all(hubs.splice(0).map((hub) => hub.kill()));
});
afterAll(() => Promise.all(hubs.map((hub) => hub.kill())));

async function start(dataFolder?: string): Promise<Hub> {
  const hub = await startHub(dataFolder === undefined ? {} : { dataFolder });
  hubs.push(hub);
  return hub;
}

/** One more vault, with so many files that its import takes a while. */
function manyFiles(): string {
  const at = Date.parse('2026-11-01T00:00:00.000Z');
  const lines: object[] = [
    {
      type: 'vault',
      vault_id: `v_${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`,
      name: 'many',
      is_primary: false,
      created_at: new Date(at).toISOString(),
      protected_paths: null,
      clock_at: new Date(at).toISOString(),
      clock_counter: 0,
    },
  ];
  for (let seq = 1; seq <= FILES; seq += 1) {
    const content = `file ${seq}\n`;
    const stored = new Date(at + seq).toISOString();
    lines.push({
      type: 'file',
      seq,
      path: `folder ${seq % 100}/${seq}.md`,
      sha256: sha256Of(content),
      git_sha: gitShaOf(content),
      hlc: `${stored}-0000-89e4f1c2a0b3d756`,
      size_bytes: Buffer.byteLength(content),
      stored_at: stored,
      device_id: 'laptop',
      remote_mtime: null,
      status: 'created',
      content,
    });
  }
  return textOf(lines as Record<string, unknown>[]);
}

/** Starts `cairn import` and waits until it has written some files of the large vault. */
async function underWay(hub: Pick<Hub, 'dataFolder'>): Promise<ChildProcess> {
  const env = cleanEnvironment({ CAIRN_DATA: hub.dataFolder });
  const command = spawn(process.execPath, [CAIRN, 'import', folder], { env, stdio: 'ignore' });
  commands.push(command);
  await until('some rows', () => ((rowsOf(hub)['sync_files'] ?? 0) > 500 ? true : undefined));
  expect(rowsOf(hub)).toMatchObject({ account_imports: 1 });
  return command;
}

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode === null && child.signalCode === null
    ? new Promise((done) => child.once('exit', done))
    : Promise.resolve();

/** Nobody can use what an import has written so far. */
async function expectNobody(hub: Hub): Promise<void> {
  const found = await hub.cli('key', 'list', '--email', email);
  expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining('no account has this email') });
}

test('[OPS-13] an import that is killed with the service counts for nothing, and the next start removes it', {
  timeout: TEST_MS,
}, async () => {
  const hub = await start();
  const before = rowsOf(hub);
  await underWay(hub);
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true, imports: 1, vaults: 0, files: 0 });
  await hub.kill();
  // Between kill and start everything that counts agrees.
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true, accounts: 0, imports: 1 });
  const again = await start(hub.dataFolder);
  const { accounts } = await again.waitForLog(({ msg }) => msg === 'removed leftovers of interrupted imports');
  expect(accounts).toBe(1);
  expect(rowsOf(again)).toEqual(before);
  await expectNobody(again);
  await imported(again, folder);
  expect(await verified(again)).toMatchObject({ ...sound, accounts: 1, imports: 0 });
  expect(rowsOf(again)['sync_files']).toBeGreaterThan(FILES);
});

test('[OPS-13] an import whose command is killed is given up by the service, which goes on', {
  timeout: TEST_MS,
}, async () => {
  const hub = await start();
  const before = rowsOf(hub);
  const command = await underWay(hub);
  const other = await importInto(hub, folder, '--email', 'other@example.org');
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('another import is running') });
  command.kill('SIGKILL');
  await until('nothing left', () => (rowsOf(hub)['account_imports'] === 0 ? true : undefined));
  expect(rowsOf(hub)).toEqual(before);
  await expectNobody(hub);
  const made = await imported(hub, folder);
  expect(made.email).toBe(email);
  expect(await verified(hub)).toMatchObject({ ...sound, accounts: 1 });
});

test('[OPS-13] Ctrl-C, SIGTERM of the service and a kill without one leave nothing either', {
  timeout: TEST_MS,
}, async () => {
  const hub = await start();
  const before = rowsOf(hub);
  const typed = await underWay(hub);
  typed.kill('SIGINT');
  await ended(typed);
  expect(typed.exitCode).toBe(1);
  await until('nothing left', () => (rowsOf(hub)['account_imports'] === 0 ? true : undefined));
  const served = await underWay(hub);
  expect(await hub.stop()).toBe(0);
  await ended(served);
  expect(served.exitCode).toBe(1);
  expect(rowsOf(hub)).toEqual(before);
  // Without a service the command itself has the folder.
  const alone = await underWay(hub);
  alone.kill('SIGKILL');
  await ended(alone);
  expect(rowsOf(hub)['account_imports']).toBe(1);
  expect(await runCairn(['import', folder], { CAIRN_DATA: hub.dataFolder })).toMatchObject({ code: 0, stderr: '' });
  expect(await verified(hub)).toMatchObject({ ...sound, accounts: 1, imports: 0 });
});

// The contents do not fit; or they do, and the rows of the log do not.
const disks = canUnshare ? [18, 21] : [];

test.each(disks)(
  '[OPS-9, OPS-2] an import that does not fit on a disk of %i MiB leaves nothing',
  { timeout: TEST_MS },
  async (mebibytes) => {
    const hub = await startHubOnSmallDisk(mebibytes);
    hubs.push(hub);
    const refused = await importInto(hub, folder);
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('the disk of CAIRN_DATA is full'),
    });
    const { stdout } = await hub.cli('stats', '--json');
    const { tables } = JSON.parse(stdout) as { tables: { name: string; rows: number }[] };
    expect(tables.filter(({ name, rows }) => rows > 0 && name !== 'meta')).toEqual([]);
    expect((await hub.cli('account', 'create', '--email', email)).code).toBe(0);
    expect(await verified(hub)).toMatchObject({ ...sound, accounts: 1, imports: 0 });
  },
);
