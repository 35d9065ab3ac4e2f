/**
 * Sets aside what a member answered and the log never had (`CAIRN_LOG_ACK=local`), because another member has taken over
 * since. It becomes a file that a person can read, one line a commit; the data file is made again from the log.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { allTables } from '../../compose/tables.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { syncPath } from '../../store/data-file/sync-path.ts';
import { writeWhole } from '../../store/data-file/write-whole.ts';
import type { ReplicaFile } from '../../store/logged/replica.ts';
import { type UnloggedRow, unloggedCommits } from '../../store/logged/unlogged.ts';
import { openRow } from '../../store/row-sums.ts';
import { partsOfKey } from '../../store/rows.ts';

/** In the data folder. */
const SET_ASIDE_FOLDER = 'set-aside';
const ENDING = '.jsonl';
/** A person removes a file once. */
const LOOK_MS = 5000;

/**
 * The files of commits that were set aside and not removed since. Kept in memory: only the process that has the folder
 * adds one, and probes ask each second. While there are some, it looks again whether they are still there.
 */
export class SetAsideFiles {
  readonly #folder: string;
  readonly #onChange: () => void;
  readonly #now: () => number;
  #names: readonly string[];
  #lookedMs: number;

  /** @param now by the monotonic clock, in milliseconds */
  constructor(folder: string, onChange = () => {}, now = () => performance.now()) {
    this.#folder = folder;
    this.#onChange = onChange;
    this.#now = now;
    this.#names = namesIn(folder);
    this.#lookedMs = now();
  }

  /** Names of the files, oldest first. */
  get names(): readonly string[] {
    if (this.#names.length > 0 && this.#now() - this.#lookedMs >= LOOK_MS) this.look();
    return this.#names;
  }

  /** Reads the folder now. */
  look(): void {
    const before = this.#names;
    this.#names = namesIn(this.#folder);
    this.#lookedMs = this.#now();
    if (before.join() !== this.#names.join()) this.#onChange();
  }
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(join(folder, SET_ASIDE_FOLDER)).filter((name) => name.endsWith(ENDING));
    return names.toSorted((a, b) => (a < b ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Writes the commits of a data file that the log lacks into a new file. Interrupted and repeated, it is one file. */
export function keepUnlogged(
  replica: ReplicaFile,
  folder: string,
): { readonly path: string; readonly commits: number } {
  const { unlogged, place } = replica;
  const target = join(folder, SET_ASIDE_FOLDER);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  // The same data file gives the same name.
  const name = [place?.incarnation ?? 'none', place?.position ?? 0, unlogged?.first ?? 0, unlogged?.last ?? 0].join(
    '-',
  );
  const path = join(target, `${name}${ENDING}`);
  const draft = `${path}.draft`;
  const file = openSync(draft, 'w', 0o600);
  let commits = 0;
  try {
    for (const key of replica.reader.keys(unloggedCommits)) {
      const commit = replica.reader.get(unloggedCommits, key);
      if (commit === undefined) continue;
      const rows = commit.rows.map((row) => shownRow(row, replica));
      const line = `${JSON.stringify({ commit: key[0], at: new Date(commit.atMs).toISOString(), rows })}\n`;
      writeWhole(file, Buffer.from(line));
      commits += 1;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncPath(target);
  syncPath(folder);
  return { path, commits };
}

/** Removes the data file of a folder, which must be closed. The next start joins as an empty folder does. */
export function removeDataFile(folder: string): void {
  rmSync(join(folder, `${DATA_FILE}-lock`), { force: true });
  rmSync(join(folder, DATA_FILE), { force: true });
  syncPath(folder);
}

const TABLES = new Map(allTables.map((table) => [table.name, table]));

function shownRow(row: UnloggedRow, replica: ReplicaFile): Readonly<Record<string, unknown>> {
  const key = partsOfKey(row.key);
  const named = { table: row.table, key };
  const stored = row.isInFile === true ? replica.valueOf(row.table, row.key) : row.value;
  if (stored === undefined) return { ...named, removed: true };
  const table = TABLES.get(row.table);
  try {
    if (table !== undefined) return { ...named, value: plain(table.codec.decode(openRow(table, key, stored))) };
  } catch {
    // Of another form than this version knows: its bytes say what there is.
  }
  return { ...named, value: plain(stored) };
}

/** Bytes become text in base64: JSON has none. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return plain([...value]);
  if (value instanceof Set) return plain([...value]);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
