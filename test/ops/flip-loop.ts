/**
 * Flips bits anywhere in the data file of a hub with everything in it, one at a time: `node dist/test/ops/flip-loop.js 200`, or
 * chosen ones: `node dist/test/ops/flip-loop.js 0 12:2992` for bit 2992 of page 12. Each
 * must be told by `cairn verify --quarantine`, unless it lies where nothing is stored. For one in ten the hub must also start and be
 * backed up with all its rows, doctor must end, and an account must be exported. The commands run one after another in a process
 * that stays, and the hub starts in another: starting one for each would be most of the work.
 */
import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newestHead } from '../../src/store/data-file/head.ts';
import { PageWalk } from '../../src/store/data-file/walk.ts';
import { HubRooms } from '../support/command-room.ts';
import { filledFolder } from '../support/filled-folder.ts';
import { fillTables } from '../support/filled-tables.ts';
import { call } from '../support/http.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FLIPS_DEFAULT = 200;
const ROUNDS = 60;
const BYTES_MAX = 60_000;
const META_BYTES = 192;
const PAGE_BITS = 0x8000;
/** The hub starts, and backup, doctor and export run, for one flip in so many. */
const MORE_EVERY = 10;
const TELL_EVERY = 500;
/** Problems with pages that every commit, or every start, writes anew: without a damaged row nothing is lost with them. */
const REWRITTEN = /^page \d+ of (the list of (tables|free pages)|the head of the file|table meta):/;
const FILES = ['cairn.mdb', 'page-sums'];

interface Report {
  readonly ok: boolean;
  readonly set_aside: readonly string[];
  readonly problems: readonly string[];
  readonly damaged_pages?: number;
}

const flips = Number(process.argv[2] ?? FLIPS_DEFAULT);
const random = randomOf(seed);
const { dataFolder, people } = await filledFolder(random, { rounds: ROUNDS, bytesMax: BYTES_MAX, fill: fillTables });
const pristine = temporaryFolder();
const rooms = new HubRooms(dataFolder);
const path = join(dataFolder, 'cairn.mdb');
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
const violations: string[] = [];

await rooms.cli('verify');
const wholeRows = await backedUp('with nothing flipped');
for (const name of FILES) copyFileSync(join(dataFolder, name), join(pristine, name));
const used = usedPages();
const bits = statSync(path).size * 8;
for (let done = 0; done < flips; done += 1) {
  const bit = Math.floor(random() * bits);
  flipBit(bit);
  await look(bit, done % MORE_EVERY === 0);
  for (const name of FILES) copyFileSync(join(pristine, name), join(dataFolder, name));
  if ((done + 1) % TELL_EVERY === 0) process.stdout.write(`${done + 1} of ${flips}, ${violations.length} violations\n`);
}
for (const chosen of process.argv.slice(3)) {
  const [page = 0, bit = 0] = chosen.split(':').map(Number);
  flipBit(page * PAGE_BITS + bit);
  await look(page * PAGE_BITS + bit, true);
  for (const name of FILES) copyFileSync(join(pristine, name), join(dataFolder, name));
}
await rooms.end();
for (const violation of violations) process.stderr.write(`${violation}\n`);
process.stdout.write(`${flips} flipped bits (seed ${seed}): ${JSON.stringify(Object.fromEntries(counts))}\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

/** The pages that hold something; of the two at the head the newer one. */
function usedPages(): ReadonlySet<number> {
  const descriptor = openSync(path, 'r');
  const { head } = newestHead(descriptor);
  const used = new Set([head.transaction % 2]);
  const onPages = (first: number, runs: number) => {
    for (let page = first; page < first + runs; page += 1) used.add(page);
  };
  new PageWalk(descriptor, head, { after: -1, onPages, onTable: () => undefined }).run(true);
  closeSync(descriptor);
  return used;
}

function flipBit(bit: number): void {
  const descriptor = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, bit >> 3);
  byte[0] = (byte[0] ?? 0) ^ (1 << (bit & 7));
  writeSync(descriptor, byte, 0, 1, bit >> 3);
  closeSync(descriptor);
}

async function look(bit: number, isMore: boolean): Promise<void> {
  const page = Math.floor(bit / PAGE_BITS);
  const where = `bit ${bit % PAGE_BITS} of page ${page}`;
  const { code, stdout, stderr } = await rooms.cli('verify', '--quarantine', '--json');
  if (code === 1 && /^cairn: .*restore.*\.\n$/.test(stderr)) {
    count('refused with the sentence that a restore mends it');
    await salvaged(where);
    return;
  }
  if (!stdout.startsWith('{') || (code !== 0 && code !== 1)) {
    violations.push(`${where}: verify ended with ${code}: ${stderr}`);
    return;
  }
  const report = JSON.parse(stdout) as Report;
  if (report.ok && report.set_aside.length === 0) {
    if (!used.has(page) || isAfterMeta(bit)) count('where nothing is stored');
    else violations.push(`${where}: not told`);
    return;
  }
  if (report.damaged_pages !== undefined) {
    count('told as a broken page, which only a restore mends');
    await salvaged(where);
    return;
  }
  count(report.ok ? 'set aside' : 'told as a changed page or row, which only a restore mends');
  if (!isMore) return;
  await goesOn(where, report);
  await others(where);
}

/** A meta page ends after its fields (`MDB_meta`); the rest of it is nothing. */
function isAfterMeta(bit: number): boolean {
  return bit >> 15 < 2 && ((bit >> 3) & 0xfff) >= META_BYTES;
}

/** What can still be read is in a backup, which says that it is not all. */
async function salvaged(where: string): Promise<void> {
  const folder = join(temporaryFolder(), 'backup');
  const { code, stderr } = await rooms.cli('backup', folder);
  rmSync(folder, { recursive: true, force: true });
  if (code === 1 && stderr.includes('all rows that can be read')) count('then saved row by row');
  else violations.push(`${where}: the backup of a broken file ended with ${code}: ${stderr}`);
}

/** Doctor and export end with what they found; no bit breaks them off. */
async function others(where: string): Promise<void> {
  const doctor = await rooms.cli('doctor', '--json');
  if (!doctor.stdout.startsWith('{')) violations.push(`${where}: doctor ended with ${doctor.code}: ${doctor.stderr}`);
  const folder = join(temporaryFolder(), 'archive');
  const exported = await rooms.cli('export', '--email', people[0]?.email ?? '', folder);
  rmSync(folder, { recursive: true, force: true });
  if (exported.code === 0) count('then exported');
  else violations.push(`${where}: export ended with ${exported.code}: ${exported.stderr}`);
}

/** The service starts, answers and is backed up with every row that the others leave. */
async function goesOn(where: string, report: Report): Promise<void> {
  const hub = await rooms.start().catch((error: Error) => void violations.push(`${where}: ${error.message}`));
  if (hub === undefined) return;
  const { status } = await call(hub, '/health');
  if (status !== 200) violations.push(`${where}: /health answered ${status}`);
  const rows = await backedUp(where, report);
  for (const [table, count] of Object.entries(wholeRows)) {
    if ((rows[table] ?? 0) < count)
      violations.push(`${where}: the backup has ${rows[table]} of ${count} rows of ${table}`);
  }
  await hub.kill();
}

/**
 * Makes a backup and gives its number of rows by table. Damage that is not set aside gives it exit code 1 and the words
 * that everything else is there. The lists of tables and of free pages are written anew by each commit, so the start may have
 * replaced a page of them; then nothing is damaged.
 */
async function backedUp(where: string, report?: Report): Promise<Readonly<Record<string, number>>> {
  const folder = join(temporaryFolder(), 'backup');
  const { code, stdout, stderr } = await rooms.cli('backup', '--json', folder);
  rmSync(folder, { recursive: true, force: true });
  const isWhole = code === 0 && (report?.problems ?? []).every((problem) => REWRITTEN.test(problem));
  const isTold = code === 1 && report?.ok === false && stderr.includes('complete except for');
  if (!isWhole && !isTold) {
    violations.push(
      `${where}: the backup ended with ${code}: ${stderr}verify said ${JSON.stringify(report?.problems)}`,
    );
  }
  return stdout.startsWith('{') ? (JSON.parse(stdout) as { tables: Record<string, number> }).tables : {};
}
