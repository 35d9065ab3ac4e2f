/**
 * Flips bits anywhere in the data file of a hub with everything in it, one at a time: `node dist/test/ops/flip-loop.js 200`. Each
 * must be told by `cairn verify --quarantine`, unless it lies where nothing is stored; then the hub must start and be backed up.
 */
import { closeSync, copyFileSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newestHead } from '../../src/store/data-file/head.ts';
import { PageWalk } from '../../src/store/data-file/walk.ts';
import { runCairn, startHub } from '../support/hub.ts';
import { Ledger } from '../support/ledger.ts';
import { Desk, writes } from '../support/load.ts';
import { Person, type Place } from '../support/person.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FLIPS_DEFAULT = 200;
const ROUNDS = 60;
const BYTES_MAX = 60_000;
const META_BYTES = 192;
const FILES = ['cairn.mdb', 'page-sums'];

const flips = Number(process.argv[2] ?? FLIPS_DEFAULT);
const random = randomOf(seed);
const dataFolder = temporaryFolder();
const pristine = temporaryFolder();
const env = { CAIRN_DATA: dataFolder };
const path = join(dataFolder, 'cairn.mdb');
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
const violations: string[] = [];

await fill();
await runCairn(['verify'], env);
for (const name of FILES) copyFileSync(join(dataFolder, name), join(pristine, name));
const used = usedPages();
for (let done = 0; done < flips; done += 1) {
  const bit = Math.floor(random() * readFileSync(path).length * 8);
  flipBit(bit);
  await look(bit);
  for (const name of FILES) copyFileSync(join(pristine, name), join(dataFolder, name));
}
for (const violation of violations) process.stderr.write(`${violation}\n`);
process.stdout.write(`${flips} flipped bits (seed ${seed}): ${JSON.stringify(Object.fromEntries(counts))}\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

/** A hub with blobs, files, conflicts, tasks and documents; the last commit is a small one. */
async function fill(): Promise<void> {
  const place: Place = { hub: await startHub({ dataFolder }) };
  const people = [await Person.arrive(place, new Ledger()), await Person.arrive(place, new Ledger())];
  for (const person of people) {
    const desk = new Desk(person, BYTES_MAX);
    for (let round = 0; round < ROUNDS; round += 1) await writes[Math.floor(random() * writes.length)]?.(desk);
  }
  await people[0]?.tool('create_task', { content: 'the last one' });
  await place.hub.stop();
}

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

async function look(bit: number): Promise<void> {
  const page = bit >> 15;
  const where = `bit ${bit} of page ${page}`;
  const { code, stdout, stderr } = await runCairn(['verify', '--quarantine', '--json'], env);
  if (code === 1 && /^cairn: .*restore.*\.\n$/.test(stderr)) {
    count('refused with the sentence that a restore mends it');
    return;
  }
  if (!stdout.startsWith('{') || (code !== 0 && code !== 1)) {
    violations.push(`${where}: verify ended with ${code}: ${stderr}`);
    return;
  }
  const report = JSON.parse(stdout) as { ok: boolean; set_aside: string[]; problems: string[]; damaged_pages?: number };
  if (report.ok && report.set_aside.length === 0) {
    if (!used.has(page) || isAfterMeta(bit)) count('where nothing is stored');
    else violations.push(`${where}: not told`);
    return;
  }
  if (report.damaged_pages !== undefined) {
    count('told as a broken page, which only a restore mends');
    return;
  }
  count(report.ok ? 'set aside' : 'told as a changed page or row, which only a restore mends');
  await goesOn(where);
}

/** A meta page ends after its fields (`MDB_meta`); the rest of it is nothing. */
function isAfterMeta(bit: number): boolean {
  return bit >> 15 < 2 && ((bit >> 3) & 0xfff) >= META_BYTES;
}

/** The service starts, answers and is backed up. */
async function goesOn(where: string): Promise<void> {
  const hub = await startHub({ dataFolder }).catch(
    (error: Error) => void violations.push(`${where}: ${error.message}`),
  );
  if (hub === undefined) return;
  const health = await fetch(`${hub.url}/health`);
  const folder = join(temporaryFolder(), 'backup');
  const backup = await hub.cli('backup', folder);
  if (health.status !== 200 || backup.code !== 0) violations.push(`${where}: the backup said ${backup.stderr}`);
  rmSync(folder, { recursive: true, force: true });
  await hub.kill();
}
