/** Counts the archives that are readable under the current credential, and those that are not. */
import type { Reader } from '../store/table.ts';
import { archivesIdOf, blobs, credentials, heads, repositories } from './records.ts';

export interface ReadableArchives {
  readonly readable: number;
  /** Bound to a credential that was destroyed or replaced without keeping its archives. */
  readonly unreadable: number;
}

type Rows = Pick<Reader, 'get' | 'range'>;

/** Returns the number of archives bound to an id. It counts the rows only in a data file where nobody did before. */
export function boundTo(reader: Rows, accountId: string, archivesId: string): number {
  const bound = reader.get(heads, [accountId])?.bound;
  if (bound !== undefined) return bound.archives_id === archivesId ? bound.archives : 0;
  return reader.range(blobs, { prefix: [accountId] }).filter(({ value }) => value.credential_id === archivesId).length;
}

export function readableArchives(reader: Rows, accountId: string): ReadableArchives {
  const current = reader.get(credentials, [accountId]);
  const all = reader.range(repositories, { prefix: [accountId] }).reduce((sum, { value }) => sum + value.archives, 0);
  const readable = current === undefined ? 0 : boundTo(reader, accountId, archivesIdOf(current));
  return { readable, unreadable: all - readable };
}
