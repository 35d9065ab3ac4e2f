/** Where a data file stands in the log of its members: one row, written in the commit of each record. */
import { recordCodec } from '../codec.ts';
import type { Batch } from '../group-commit.ts';
import { sealRow } from '../row-sums.ts';
import { type AnyTable, defineTable, type Reader, type Table } from '../table.ts';
import { unloggedCommits } from './unlogged.ts';

export interface LogPlace {
  readonly cell: number;
  /** The history that the positions belong to. */
  readonly incarnation: string;
  /** The newest record that this file has. */
  readonly position: number;
  /** SHA-256 of that record, in hex. */
  readonly hash: string;
  /** True while the log does not have all rows of the hub that it began with. */
  readonly isPartial?: boolean | undefined;
}

const places: Table<[name: 'log'], LogPlace> = defineTable('replication', recordCodec<LogPlace>(1), { hub: 'any' });

/** What belongs to this file and not to the hub: it is in no record. */
export const replicationTables: readonly AnyTable[] = [places, unloggedCommits];

/** The place of a data file; undefined: it belongs to no log. */
export const placeOfFile = (reader: Reader): LogPlace | undefined => reader.get(places, ['log']);

/** In a decision of the hub: the file belongs to no log from now on. */
export function leaveLog(batch: Batch): void {
  batch.remove(places, ['log']);
  for (const key of batch.keys(unloggedCommits)) batch.remove(unloggedCommits, key);
}

/** The row of a place in its stored form. */
export function placeRow(place: LogPlace) {
  const key: ['log'] = ['log'];
  return { table: places, key, bytes: sealRow(places, key, places.codec.encode(place)) };
}
