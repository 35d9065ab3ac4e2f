/**
 * Copies every row that can be read out of a data file with broken pages into a new one. LMDB never opens the broken
 * file: it could end the process. Damaged rows are copied as they are; what lies below a broken page is lost.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import type { Database } from 'lmdb';
import { BrokenFile } from '../data-file/check.ts';
import { type FileHead, readableHeads } from '../data-file/head.ts';
import { reserveLocks } from '../data-file/lock-file.ts';
import { nameWithFlippedBit } from '../data-file/table-names.ts';
import { PageWalk } from '../data-file/walk.ts';
import { type Environment, openEnvironment } from '../environment.ts';
import type { AnyTable } from '../table.ts';

/** LMDB's own limit (`mdb_env_get_maxkeysize` with pages of 4 KiB). A longer key is damage. */
const KEY_BYTES_MAX = 1978;
/** Bytes of rows in one commit. */
const COMMIT_BYTES = 64 * 1024 * 1024;

export interface SalvageOptions {
  /** The broken file. Nothing may write it during the copy. */
  readonly from: string;
  /** The new file; must not exist. */
  readonly to: string;
  readonly tables: readonly AnyTable[];
  readonly mapBytes: number;
}

/**
 * Writes the new file. Returns one sentence for each broken page.
 * @throws BrokenFile when no row can be reached
 */
export async function salvage({ from, to, tables, mapBytes }: SalvageOptions): Promise<readonly string[]> {
  const descriptor = openSync(from, 'r');
  try {
    const heads = headsByDamage(descriptor);
    const newest = Math.max(...heads.map(({ transaction }) => transaction));
    for (const head of heads) {
      reserveLocks(to);
      const target = openEnvironment({ path: to, mapBytes, readOnly: false });
      const rows = new RowWriter(target, tables);
      let lost: readonly string[];
      try {
        lost = rows.copy(descriptor, head);
      } finally {
        await target.close();
      }
      const isNewest = head.transaction === newest;
      if (rows.count > 0) return isNewest ? lost : [`the list of tables: the last commit cannot be read`, ...lost];
      for (const path of [to, `${to}-lock`]) rmSync(path, { force: true });
    }
  } finally {
    closeSync(descriptor);
  }
  throw new BrokenFile(
    'nothing in the data file can be read; restore a backup into an empty folder (`cairn restore`).',
  );
}

/** The readable heads: first the one whose list of tables has the least damage, then the newest. */
function headsByDamage(descriptor: number): FileHead[] {
  const heads = readableHeads(descriptor).map((head) => ({
    head,
    damage: new PageWalk(descriptor, head).run(false).length,
  }));
  return heads.sort((one, other) => one.damage - other.damage).map(({ head }) => head);
}

/** Puts the rows of a walk into a new file, many in one commit. */
class RowWriter {
  count = 0;
  readonly #target: Environment;
  readonly #names: ReadonlySet<string>;
  #table: Database<Buffer, Buffer> | undefined;
  #waiting: { readonly key: Buffer; readonly value: Buffer }[] = [];
  #waitingBytes = 0;

  constructor(target: Environment, tables: readonly AnyTable[]) {
    this.#target = target;
    this.#names = new Set(tables.map(({ name }) => name));
  }

  copy(descriptor: number, head: FileHead): readonly string[] {
    const walk = new PageWalk(descriptor, head, {
      after: -1,
      onPages: () => undefined,
      onTable: (name) => this.#open(name),
      onRow: (key, value) => this.#put(key, value),
    });
    const lost = walk.run(true);
    this.#flush();
    return lost;
  }

  #open(name: string): void {
    this.#flush();
    // Another name that no version of the tables has is damage.
    const meant = this.#names.has(name) ? name : nameWithFlippedBit(name, this.#names);
    this.#table =
      meant === undefined
        ? undefined
        : this.#target.openDB<Buffer, Buffer>({ name: meant, encoding: 'binary', keyEncoding: 'binary' });
  }

  #put(key: Buffer, value: Buffer): void {
    if (this.#table === undefined || key.length === 0 || key.length > KEY_BYTES_MAX) return;
    this.#waiting.push({ key, value });
    this.#waitingBytes += key.length + value.length;
    if (this.#waitingBytes >= COMMIT_BYTES) this.#flush();
  }

  #flush(): void {
    const [table, waiting] = [this.#table, this.#waiting];
    [this.#waiting, this.#waitingBytes] = [[], 0];
    if (table === undefined || waiting.length === 0) return;
    this.#target.transactionSync(() => {
      for (const { key, value } of waiting) table.putSync(key, value);
    });
    this.count += waiting.length;
  }
}
