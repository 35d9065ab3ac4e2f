/** Puts the rows of a hub that had no log into a new one, so that other members can join. */
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import { replicationTables } from '../../store/logged/place.ts';
import type { ReplicaFile, StoredRow } from '../../store/logged/replica.ts';
import type { Owner } from './owner.ts';

/** Appends all rows as records; at the end the data file has its place. Nobody may write the file meanwhile. */
export async function seedLog(replica: ReplicaFile, owner: Owner, log: Log): Promise<void> {
  log.info('member: putting the rows of this hub into the log');
  const own = new Set(replicationTables.map(({ name }) => name));
  let rows: StoredRow[] = [];
  let bytes = 0;
  let count = 0;
  for (const table of replica.tables) {
    if (own.has(table)) continue;
    for (const row of replica.rows(table)) {
      rows.push(row);
      bytes += row.key.length + (row.value?.length ?? 0);
      count += 1;
      if (bytes < limits.logGroupBytesMax) continue;
      await owner.seed(rows, false);
      [rows, bytes] = [[], 0];
    }
  }
  const place = await owner.seed(rows, true);
  await replica.apply([], place);
  log.info({ rows: count, position: place.position }, 'member: the log has this hub');
}
