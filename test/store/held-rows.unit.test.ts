/** Rows that are held back until the end of a group of decisions, and keys that are walked once. */
import { expect, test } from 'vitest';
import { decideHeld } from '../../src/store/held-rows.ts';
import type { Key, Reader, Table } from '../../src/store/table.ts';

test('the keys of all rows are not those of a prefix, whatever it is called', () => {
  const table = { name: 'walked', isWalked: true } as Table<Key, unknown>;
  const rows: readonly Key[] = [['a'], ['undefined', 1]];
  const keys = (_: unknown, prefix: Key = []) => rows.filter((key) => prefix.every((part, at) => key[at] === part));
  const walked: (readonly Key[])[] = [];
  decideHeld(
    { keys } as unknown as Reader,
    () => undefined,
    ({ reader }) => {
      for (const prefix of [[], ['undefined'], [''], []]) walked.push([...reader.keys(table, prefix)]);
    },
  );
  expect(walked).toEqual([rows, [rows[1]], [], rows]);
});
