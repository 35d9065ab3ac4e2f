/** Finds the last number that was given in a table, for counters that are damaged. */
import type { Table, Walkable } from '../store/table.ts';

/** Returns the greatest number of an account's rows; 0 without rows. */
export function lastNumber<V>(snapshot: Walkable, table: Table<[string, number], V>, accountId: string): number {
  const [last] = snapshot.keysIn(table, { prefix: [accountId], reverse: true, limit: 1 });
  return last?.[1] ?? 0;
}
