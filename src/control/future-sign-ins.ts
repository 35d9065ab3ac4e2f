/**
 * Counts the sign-ins that a clock made while it was ahead: sessions of browsers, signed-in devices, access tokens. They
 * are over, so there is nothing to mend.
 */
import { accessTokens, browserSessions } from '../accounts/records.ts';
import { hasTokenEnded } from '../accounts/tokens.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { signIns } from '../oauth/records.ts';
import { intact } from '../store/intact.ts';
import type { Reader, Table } from '../store/table.ts';
import { isFromTheFuture } from '../time/truth.ts';

type Rows = Pick<Reader, 'get' | 'keysIn'>;

export async function countFutureSignIns(reader: Rows, nowMs: number): Promise<number> {
  const sessions = await count(reader, browserSessions, (row) => isFromTheFuture(row.created_ms, nowMs));
  const devices = await count(reader, signIns, (row) => isFromTheFuture(Date.parse(row.created_at), nowMs));
  const isFuture = (endMs: number) => endMs > nowMs && hasTokenEnded(endMs, nowMs);
  return sessions + devices + (await count(reader, accessTokens, (row) => isFuture(row.expires_ms)));
}

async function count<V>(reader: Rows, table: Table<[string], V>, accepts: (row: V) => boolean): Promise<number> {
  let found = 0;
  let last: [string] | undefined;
  for (;;) {
    const beyond = last === undefined ? {} : { beyond: last };
    const keys: [string][] = [...reader.keysIn(table, { prefix: [], ...beyond, limit: limits.mendRowsMax })];
    for (const key of keys) {
      const row = intact(reader, table, key);
      if (row !== undefined && accepts(row)) found += 1;
    }
    last = keys.at(-1);
    if (last === undefined) return found;
    await turns.next('service');
  }
}
