/** Owns what is told while changes of the hub arrive. */
import type { Arrivals } from '../hub.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { SyncSession } from '../session.ts';

/** Hands records on; a path that is not for this folder is listed, and the rest goes on. */
export function arrivalsOf(session: SyncSession, record: (record: RemoteRecord) => void): Arrivals {
  return {
    record,
    bad: (path, reason) => void session.troubles.set(path, reason),
    progress: (amount) => session.progress('download', amount),
  };
}
