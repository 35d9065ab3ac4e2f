/**
 * Commits that were answered before the log has them (`CAIRN_LOG_ACK=local`). Each is a row of its own, written by the
 * commit itself and removed by the one that notes the record that has it. After a crash they say what the log lacks.
 */
import { type Codec, recordCodec } from '../codec.ts';
import { sealRow } from '../row-sums.ts';
import type { LoggedRow } from '../rows.ts';
import { defineTable, type Key, type Reader, type Table } from '../table.ts';

/** A row of such a commit: with its value, or removed, or `isInFile`: large bytes that stand in the data file only. */
export interface UnloggedRow {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value?: Uint8Array | undefined;
  readonly isInFile?: true;
}

export interface UnloggedCommit {
  /** When it was committed, in milliseconds since 1970. */
  readonly atMs: number;
  readonly rows: readonly UnloggedRow[];
}

const codec: Codec<UnloggedCommit> = recordCodec<UnloggedCommit>(1);

export const unloggedCommits: Table<[number: number], UnloggedCommit> = defineTable('unlogged', codec, { hub: 'any' });

/** Commits as one record of the log takes them. */
export interface UnloggedGroup {
  readonly rows: readonly LoggedRow[];
  /** The number of the last one. */
  readonly through: number;
}

/** The stored bytes of a row that a commit wrote, or the part that has them; undefined: there is none. */
export type StoredOf = (row: UnloggedRow, commit: number) => Pick<LoggedRow, 'value' | 'part'> | undefined;

/** The row of a commit in its stored form. */
export function unloggedRow(number: number, commit: UnloggedCommit) {
  const key: [number: number] = [number];
  return { table: unloggedCommits, key, bytes: sealRow(unloggedCommits, key, codec.encode(commit)) };
}

/** The numbers of the first and of the last commit that the log may lack; undefined: there is none. */
export function unloggedSpan(reader: Reader): { readonly first: number; readonly last: number } | undefined {
  let span: { first: number; last: number } | undefined;
  for (const [number] of reader.keys(unloggedCommits)) span = { first: span?.first ?? number, last: number };
  return span;
}

/**
 * The oldest commits up to a number, as many as fit into this many bytes and at least one; undefined: there is none. Call it
 * without a pause, so that all is read from one moment.
 */
export function oldestUnlogged(
  reader: Reader,
  storedOf: StoredOf,
  { last, bytesMax }: { readonly last: number; readonly bytesMax: number },
): UnloggedGroup | undefined {
  const rows: LoggedRow[] = [];
  let bytes = 0;
  let through: number | undefined;
  for (const [number] of reader.keys(unloggedCommits)) {
    if (number > last || bytes >= bytesMax) break;
    for (const row of reader.get(unloggedCommits, [number])?.rows ?? []) {
      const stored = row.isInFile === true ? storedOf(row, number) : { value: row.value };
      // What is gone again was removed by a later commit.
      if (stored === undefined) continue;
      rows.push({ table: row.table, key: row.key, ...stored });
      bytes += stored.value?.length ?? 0;
    }
    through = number;
  }
  return through === undefined ? undefined : { rows, through };
}

/** The keys of all commits up to a number. */
export const unloggedThrough = (reader: Reader, through: number): Key[] =>
  [...reader.keys(unloggedCommits)].filter(([number]) => number <= through);
