/** Data files that LMDB must not open: each is one sentence and exit 1, for the service and for every command. */
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { findDamagedPages } from '../../src/store/data-file/check.ts';
import { call } from '../support/http.ts';
import { type CommandResult, runCairn, startHub } from '../support/hub.ts';
import { KEPT_KEY } from '../support/keep-data-file.ts';
import { account, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { refusedStart } from '../support/refused-start.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KEPT = new URL('data-files/schema-1/cairn.mdb.gz', import.meta.url);
const PAGE = 4096;
/** Where a meta page says what it says; see src/store/data-file/head.ts. */
const MAGIC = 24;
const VERSION = 28;
const PAGE_BYTES = 48;
const MAIN_DEPTH = 48 + 48 + 6;
const MAIN_ROOT = 48 + 48 + 40;
const LAST_PAGE = 48 + 96;

let whole: Buffer;

beforeAll(() => {
  whole = gunzipSync(readFileSync(KEPT));
});

/** A data folder with these bytes as its data file, and its key beside it. */
function folderOf(bytes: Uint8Array): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'cairn.mdb'), bytes);
  writeFileSync(join(folder, 'master.key'), `${KEPT_KEY}\n`);
  return folder;
}

function sentenceOf({ code, stderr }: CommandResult): string {
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^cairn: [^\n]+\.\n$/)]);
  return stderr;
}

/** What every way of opening a folder says; the data file is as it was. */
async function refusals(folder: string, commands: readonly (readonly string[])[] = [['verify']]): Promise<Set<string>> {
  const before = readFileSync(join(folder, 'cairn.mdb'));
  const sentences = [sentenceOf(await refusedStart({ CAIRN_DATA: folder }))];
  for (const args of commands) sentences.push(sentenceOf(await runCairn(args, { CAIRN_DATA: folder })));
  expect(readFileSync(join(folder, 'cairn.mdb')).equals(before)).toBe(true);
  return new Set(sentences);
}

test('[OPS-9] a data file cut short anywhere, or empty beside its key, is refused with one sentence', async () => {
  const pages = whole.length / PAGE;
  const commands = [
    ['stats'],
    ['backup', join(temporaryFolder(), 'backup')],
    ['export', '--email', 'kept@example.org', join(temporaryFolder(), 'archive')],
    ['key', 'list', '--email', 'kept@example.org'],
    ['account', 'create', '--email', 'new@example.org'],
  ];
  for (const bytes of [0, 1, PAGE + 100, 2 * PAGE, Math.floor(pages / 2) * PAGE, whole.length - 100]) {
    const said = await refusals(folderOf(whole.subarray(0, bytes)), bytes === 0 ? commands : [['verify']]);
    const refused = expect.stringMatching(/cairn\.mdb cannot be opened: .*restore a backup/);
    // A backup saves what can be read, and here is nothing.
    const notSaved = expect.stringContaining('nothing in the data file can be read; restore a backup');
    expect([bytes, [...said]]).toEqual([bytes, bytes === 0 ? [refused, notSaved] : [refused]]);
  }
});

test.each<[what: string, at: number, value: bigint]>([
  ['magic', MAGIC, 0n],
  ['data format', VERSION, 7n],
  ['page size', PAGE_BYTES, 3n],
  ['depth', MAIN_DEPTH, 0xffffn],
  ['root', MAIN_ROOT, 2n ** 40n],
  ['last page', LAST_PAGE, 2n ** 63n],
])('[OPS-9] a meta page with a bad %s is refused with one sentence', async (_what, at, value) => {
  const bytes = Buffer.from(whole);
  for (const meta of [0, 1]) {
    if (at === MAIN_ROOT || at === LAST_PAGE) bytes.writeBigUInt64LE(value, meta * PAGE + at);
    else bytes.writeUInt16LE(Number(value), meta * PAGE + at);
  }
  expect([...(await refusals(folderOf(bytes)))]).toEqual([expect.stringContaining('cairn.mdb cannot be opened')]);
});

test('[OPS-9] a file that is not a data file is refused with one sentence', async () => {
  const text = Buffer.from('not a data file\n'.repeat(5000));
  expect([...(await refusals(folderOf(text)))]).toEqual([expect.stringContaining('cairn.mdb cannot be opened')]);
});

test('[OPS-9] a key whose data file is gone does not become an empty hub', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'master.key'), `${KEPT_KEY}\n`);
  expect(sentenceOf(await refusedStart({ CAIRN_DATA: folder }))).toContain('no cairn.mdb');
  expect(
    sentenceOf(await runCairn(['account', 'create', '--email', 'a@example.org'], { CAIRN_DATA: folder })),
  ).toContain('no cairn.mdb');
  expect(readdirSync(folder)).not.toContain('cairn.mdb');
});

test('[OPS-9] a first start that was cut off anywhere before its first commit is begun again', async () => {
  const key = `${KEPT_KEY}\n`;
  for (const left of [
    {},
    { 'master.key': key },
    { 'master.key': key, 'cairn.mdb': '' },
    { 'master.key': key, 'cairn.mdb': 'half' },
  ]) {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'first-start'), '');
    for (const [name, text] of Object.entries(left)) writeFileSync(join(folder, name), text);
    const hub = await startHub({ dataFolder: folder });
    await account(hub);
    expect(existsSync(join(folder, 'first-start'))).toBe(false);
    expect(await hub.stop()).toBe(0);
  }
});

test('[OPS-10] verify and backup tell of damaged pages instead of ending by a signal', {
  timeout: 300_000,
}, async () => {
  // Commands read a file of this version, which the kept one becomes at a start.
  const upgraded = folderOf(whole);
  await (await startHub({ dataFolder: upgraded })).stop();
  const current = readFileSync(join(upgraded, 'cairn.mdb'));
  const pages = treePages(current);
  expect(pages.length).toBeGreaterThan(40);
  const damaged = pages.map((page) => {
    const bytes = Buffer.from(current.subarray(page * PAGE, (page + 1) * PAGE));
    // The place of an entry now points anywhere.
    return { page, bytes: bytes.fill(0xff, 24, 28) };
  });
  const found = damagesFound(current, damaged);
  expect(found).toEqual(damaged.map(({ page }) => [expect.stringContaining(`page ${page} of`)]));
  const ofFree = found.findIndex(([sentence]) => sentence?.includes('the list of free pages') === true);
  expect(ofFree).not.toBe(-1);
  for (const [index, { page, bytes }] of damaged.entries()) {
    if (index % 20 !== 0 && index !== ofFree) continue;
    const folder = folderOf(
      Buffer.concat([current.subarray(0, page * PAGE), bytes, current.subarray((page + 1) * PAGE)]),
    );
    const { code, stdout, stderr } = await runCairn(['verify'], { CAIRN_DATA: folder });
    expect([page, code, stdout + stderr]).toEqual([page, 1, expect.stringContaining(`page ${page} of`)]);
    // A page that only the last commit wrote is left out with that commit. The list of free pages leads to no row.
    const lost = index === ofFree ? /^none$/ : new RegExp(`page ${page} of|the last commit cannot be read`);
    expect(await savedAndServed(folder)).toMatchObject({ page: expect.stringMatching(lost) });
  }
});

/** Backs a broken data file up, restores that, and starts a hub on it. Gives what the manifest says is lost, or `none`. */
async function savedAndServed(folder: string): Promise<{ readonly page: string | undefined; readonly rows: number }> {
  const backup = join(temporaryFolder(), 'backup');
  const made = await runCairn(['backup', backup], { CAIRN_DATA: folder });
  expect([made.code, made.stderr]).toEqual([1, expect.stringMatching(/cairn: the data file is broken: [^\n]*\.\n$/)]);
  const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as {
    readonly damaged: readonly string[];
    readonly lost_pages: number;
    readonly tables: Readonly<Record<string, number>>;
  };
  const data = temporaryFolder();
  writeFileSync(join(data, 'master.key'), `${KEPT_KEY}\n`);
  const restored = await runCairn(['restore', backup], { CAIRN_DATA: data });
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  const hub = await startHub({ dataFolder: data });
  expect((await call(hub, '/health')).status).toBe(200);
  await account(hub);
  expect(await hub.stop()).toBe(0);
  const page = manifest.lost_pages === 0 ? 'none' : manifest.damaged[0];
  return { page, rows: Object.values(manifest.tables).reduce((sum, count) => sum + count, 0) };
}

test('[OPS-10] a data file whose list of tables is broken is saved whole, from the list of the commit before', async () => {
  const folder = folderOf(whole);
  const hub = await startHub({ dataFolder: folder });
  await account(hub);
  await hub.stop();
  const bytes = readFileSync(join(folder, 'cairn.mdb'));
  const newest = [0, 1].sort((one, other) => Number(transactionOf(bytes, other) - transactionOf(bytes, one)))[0] ?? 0;
  const rows = rowsOf(await runCairn(['stats', '--json'], { CAIRN_DATA: folder }));
  const root = Number(bytes.readBigUInt64LE(newest * PAGE + MAIN_ROOT));
  writeFileSync(join(folder, 'cairn.mdb'), bytes.fill(0xff, root * PAGE + 24, root * PAGE + 28));
  sentenceOf(await refusedStart({ CAIRN_DATA: folder }));
  const saved = await savedAndServed(folder);
  // The last commit may be missing, and nothing else.
  expect(Math.abs(saved.rows - rows)).toBeLessThan(20);
}, 180_000);

const transactionOf = (file: Buffer, meta: number): bigint => file.readBigUInt64LE(meta * PAGE + LAST_PAGE + 8);

const rowsOf = ({ stdout }: CommandResult): number =>
  (JSON.parse(stdout) as { readonly tables: readonly { readonly rows: number }[] }).tables.reduce(
    (sum, { rows }) => sum + rows,
    0,
  );

interface OtherPage {
  readonly page: number;
  readonly bytes: Uint8Array;
}

/** What is found of each of these pages when it alone stands in the file in place of what was there. */
function damagesFound(file: Buffer, others: readonly OtherPage[]): (readonly string[])[] {
  const path = join(folderOf(file), 'cairn.mdb');
  const open = openSync(path, 'r+');
  try {
    return others.map(({ page, bytes }) => {
      writeSync(open, bytes, 0, PAGE, page * PAGE);
      const found = findDamagedPages(path);
      writeSync(open, file, page * PAGE, PAGE, page * PAGE);
      return found;
    });
  } finally {
    closeSync(open);
  }
}

/** The pages of a file that a tree is made of: damaging any other page is not damage. */
function treePages(file: Buffer): number[] {
  const likely = Array.from({ length: file.length / PAGE }, (_, page) => page).filter(
    (page) => page >= 2 && (file.readUInt16LE(page * PAGE + 18) & 3) !== 0,
  );
  const found = damagesFound(
    file,
    likely.map((page) => ({
      page,
      bytes: Buffer.from(file.subarray(page * PAGE, (page + 1) * PAGE)).fill(0xff, 0, 8),
    })),
  );
  return likely.filter((_, index) => (found[index]?.length ?? 0) > 0);
}

test('[OPS-9] [OPS-1] a limit of address space below the map is one sentence; a smaller map is a setting', async () => {
  const limited = ['prlimit', `--as=${200 * 2 ** 30}`];
  const folder = temporaryFolder();
  await expect(startHub({ dataFolder: folder, wrapper: limited })).rejects.toThrow(
    /ended with 1: cairn: the memory map .*CAIRN_MAP_BYTES[^\n]*\.\n"no log line"$/,
  );
  const hub = await startHub({ dataFolder: folder, wrapper: limited, env: { CAIRN_MAP_BYTES: String(2 ** 30) } });
  await account(hub);
  expect(await hub.stop()).toBe(0);
});

test('[OPS-1] a map that is full refuses what needs room and goes on serving', async () => {
  const hub = await startHub({ env: { CAIRN_MAP_BYTES: String(64 * 2 ** 20) } });
  const owner = await mirrorAccount(hub);
  const statuses: number[] = [];
  for (let blob = 0; blob < 8; blob += 1) {
    statuses.push((await upload(hub, owner, randomCommit(), Buffer.alloc(10 * 2 ** 20, blob))).status);
  }
  expect(statuses[0]).toBe(200);
  expect(statuses.at(-1)).toBe(507);
  expect((await call(hub, '/ready')).status).toBe(200);
  expect(await hub.stop()).toBe(0);
  expect(statSync(join(hub.dataFolder, 'cairn.mdb')).size).toBeLessThan(64 * 2 ** 20);
});

test('[OPS-1] a map smaller than the data file is refused with one sentence', async () => {
  const folder = folderOf(whole);
  truncateSync(join(folder, 'cairn.mdb'), 60 * 2 ** 20);
  expect(sentenceOf(await refusedStart({ CAIRN_DATA: folder, CAIRN_MAP_BYTES: String(64 * 2 ** 20) }))).toContain(
    'CAIRN_MAP_BYTES',
  );
});

test('[OPS-1] a start warns of a key file that other users can read, and of no other', async () => {
  const warnings = async (mode: number) => {
    chmodSync(join(folder, 'master.key'), mode);
    const hub = await startHub({ dataFolder: folder });
    await hub.stop();
    return hub.logs.filter(({ level }) => Number(level) === 40).map(({ msg }) => String(msg));
  };
  const folder = temporaryFolder();
  await (await startHub({ dataFolder: folder })).stop();
  expect(await warnings(0o644)).toEqual([expect.stringContaining('chmod 600')]);
  expect(await warnings(0o640)).toEqual([expect.stringContaining('chmod 600')]);
  expect(await warnings(0o600)).toEqual([]);
});
