/** One rotten bit in a row of each table: the hub starts, and every command ends with what it found. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { removals, standingTables } from '../../src/accounts/standing/records.ts';
import { Store } from '../../src/store/store.ts';
import { HubRooms } from '../support/command-room.ts';
import { type FilledFolder, filledFolder } from '../support/filled-folder.ts';
import { fillTables } from '../support/filled-tables.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { randomCommit } from '../support/mirror.ts';
import type { Person } from '../support/person.ts';
import { randomOf } from '../support/random.ts';
import { RowFlips } from '../support/row-flips.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** How long the removal of an account may take: far longer than it does. */
const REMOVAL_TRIES = 300;
const REMOVAL_WAIT_MS = 100;
/** Rows of each table that are damaged in turn. */
const ROWS = Number(process.env['ROWS_PER_TABLE'] ?? 1);
/** The tables: `all`, or names with commas between. Otherwise an eighth of them, by the seed. */
const TABLES = process.env['ROW_TABLES'];
const ONE_OF = 8;
/** Lines of its log that tell why a hub ended. */
const LINES_TOLD = 10;

test(`[OPS-23, OPS-24] with a damaged row in any table the hub starts and one of two people can write; backup, export and doctor end with what they found (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const filled = await filledFolder(random, { fill: fillTables });
  const { dataFolder } = filled;
  const path = join(dataFolder, 'cairn.mdb');
  const pristine = readFileSync(path);
  const first = new RowFlips(dataFolder);
  const tables = first.tableNames;
  await first.store.close();
  const rooms = new HubRooms(dataFolder);
  const found: string[] = [];
  for (const table of chosen(tables, random)) {
    for (let row = 0; row < ROWS; row += 1) {
      const flips = new RowFlips(dataFolder);
      const flip = await flips.flip(random, { table });
      await flips.store.close();
      if (flip !== undefined) {
        const where = `${table} ${flip.key.map(String).join(' ')} bit ${flip.bit}`;
        found.push(...(await look(rooms, filled)).map((what) => `${where}: ${what}`));
      }
      // A new file, and no lock of the old one: whoever still had that open would see its pages change.
      writeFileSync(`${path}.new`, pristine);
      renameSync(`${path}.new`, path);
      rmSync(`${path}-lock`, { force: true });
    }
  }
  await rooms.end();
  expect(found).toEqual([]);
}, 1_800_000);

function chosen(tables: readonly string[], random: () => number): readonly string[] {
  if (TABLES === 'all') return tables;
  if (TABLES !== undefined) return TABLES.split(',');
  const shuffled = tables.map((table) => ({ table, place: random() })).sort((a, b) => a.place - b.place);
  return shuffled.slice(0, Math.ceil(tables.length / ONE_OF)).map(({ table }) => table);
}

/** What is not as it should be. */
async function look(rooms: HubRooms, { people, place }: FilledFolder): Promise<string[]> {
  const found: string[] = [];
  const doctor = await rooms.cli('doctor', '--json');
  if (!doctor.stdout.startsWith('{')) found.push(`doctor ended with ${doctor.code}: ${doctor.stderr}`);
  const archive = join(temporaryFolder(), 'archive');
  const exported = await rooms.cli('export', '--email', people[0]?.email ?? '', archive);
  rmSync(archive, { recursive: true, force: true });
  if (exported.code !== 0) found.push(`export ended with ${exported.code}: ${exported.stderr}`);
  // In a process of its own, as it runs for an operator: an error that nobody expects ends it there.
  let hub: Hub | undefined;
  try {
    hub = await startHub({ dataFolder: rooms.dataFolder });
    const { status } = await call(hub, '/health');
    if (status !== 200) found.push(`/health answered ${status}`);
    place.hub = hub;
    const refused = await Promise.all(people.map((person) => refusalOf(person)));
    if (!refused.includes(undefined)) found.push(`nobody could write: ${refused.join('; ')}`);
    const backup = join(temporaryFolder(), 'backup');
    const made = await rooms.cli('backup', '--json', backup);
    rmSync(backup, { recursive: true, force: true });
    if (!made.stdout.startsWith('{')) found.push(`backup ended with ${made.code}: ${made.stderr}`);
    found.push(...(await deletes(rooms, people[0]?.email ?? '')));
  } catch (error) {
    found.push((error as Error).message);
  }
  if (hub === undefined) return found;
  const code = await hub.stop();
  if (code !== 0) found.push(`the hub ended with ${code ?? hub.process.signalCode}: ${lastLines(hub)}`);
  return found;
}

function lastLines(hub: Hub): string {
  const lines = hub.logs.slice(-LINES_TOLD).map((line) => JSON.stringify(line));
  return [hub.stderr(), ...lines].join('\n');
}

/** Deletes an account, if it can be found, and waits until nothing of it is left. */
async function deletes(rooms: HubRooms, email: string): Promise<string[]> {
  const { code, stderr } = await rooms.cli('account', 'delete', '--email', email, '--confirm', email);
  if (code !== 0) return /no account|damaged/.test(stderr) ? [] : [`the deletion ended with ${code}: ${stderr}`];
  const store = new Store({ folder: rooms.dataFolder, tables: standingTables, readOnly: true });
  try {
    for (let tries = 0; tries < REMOVAL_TRIES; tries += 1) {
      if ([...store.keys(removals)].length === 0) return [];
      await sleep(REMOVAL_WAIT_MS);
    }
    return ['a deleted account was not removed'];
  } finally {
    await store.close();
  }
}

/** What the hub refused of a task, a file and an upload; undefined: nothing. */
async function refusalOf(person: Person): Promise<string | undefined> {
  const answers = [
    await person.tool('create_task', { content: 'a task' }),
    await person.tool('sync_push', { path: `${randomCommit()}.md`, content: 'a file' }),
    await person.upload(randomCommit(), Buffer.from('an archive'), {}),
  ];
  return answers.find(({ status }) => status !== 200)?.text;
}
