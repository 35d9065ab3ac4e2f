/** Which backups stay by which rules. Each backup is written as its time, with `<` before the one that it is based on. */
import { expect, test } from 'vitest';
import { type KeepRules, type KeptBackup, retained } from '../../src/time/retention.ts';

/** `2026-03-01T12 < 2026-02-28T12`, with `!` after a damaged one. Its name is its time. */
function parsed(text: string): KeptBackup {
  const [own = '', since] = text.split(' < ');
  const name = own.replace('!', '');
  return { name, madeMs: Date.parse(`${name}:00:00Z`), since, isWhole: !own.includes('!') };
}

const DAYS = ['2026-03-04T03', '2026-03-03T03', '2026-03-02T03', '2026-03-01T03', '2026-02-28T03', '2026-02-27T03'];
const OFTEN = ['2026-03-04T21', '2026-03-04T09', '2026-03-03T21', '2026-03-03T09', '2026-02-10T09', '2025-12-31T09'];

test.each<[rules: KeepRules, backups: readonly string[], kept: readonly string[]]>([
  [{ last: 1 }, DAYS, DAYS.slice(0, 1)],
  [{ last: 3 }, DAYS, DAYS.slice(0, 3)],
  [{ last: 9 }, DAYS, DAYS],
  [{}, DAYS, DAYS.slice(0, 1)],
  // The newest of each day that has one; days without any do not count.
  [{ daily: 2 }, OFTEN, ['2026-03-04T21', '2026-03-03T21']],
  [{ daily: 3 }, OFTEN, ['2026-03-04T21', '2026-03-03T21', '2026-02-10T09']],
  // 2026-03-01 is a Sunday: the week of 2026-02-23 ends with it.
  [{ weekly: 2 }, DAYS, ['2026-03-04T03', '2026-03-01T03']],
  [{ weekly: 1 }, DAYS, ['2026-03-04T03']],
  [{ monthly: 2 }, DAYS, ['2026-03-04T03', '2026-02-28T03']],
  [{ monthly: 3 }, OFTEN, ['2026-03-04T21', '2026-02-10T09', '2025-12-31T09']],
  // Rules add up.
  [{ daily: 2, monthly: 2 }, DAYS, ['2026-03-04T03', '2026-03-03T03', '2026-02-28T03']],
  [{ last: 2, weekly: 2 }, DAYS, ['2026-03-04T03', '2026-03-03T03', '2026-03-01T03']],
  // A week can span two years: 2025-12-29 to 2026-01-04.
  [{ weekly: 2 }, ['2026-01-04T03', '2025-12-29T03', '2025-12-28T03'], ['2026-01-04T03', '2025-12-28T03']],
  // A chain stays down to its full backup.
  [
    { daily: 1 },
    ['2026-03-04T03 < 2026-03-03T03', '2026-03-03T03 < 2026-03-02T03', '2026-03-02T03', '2026-03-01T03'],
    ['2026-03-04T03', '2026-03-03T03', '2026-03-02T03'],
  ],
  // One with damage stands for no day: the good one of that day stays, and it goes.
  [{ daily: 2 }, ['2026-03-04T03', '2026-03-03T21!', '2026-03-03T03'], ['2026-03-04T03', '2026-03-03T03']],
  [{ last: 2 }, ['2026-03-04T03', '2026-03-03T21!', '2026-03-03T03'], ['2026-03-04T03', '2026-03-03T03']],
  // Damaged, and a good one is based on it.
  [{ last: 1 }, ['2026-03-04T03 < 2026-03-03T21', '2026-03-03T21!'], ['2026-03-04T03', '2026-03-03T21']],
])('[OPS-32] %j keeps of %j: %j', (rules, backups, kept) => {
  const all = backups.map(parsed);
  const made = all[0]?.name ?? '';
  for (const order of [all, all.toReversed()]) {
    expect([...retained(order, made, rules)].toSorted()).toEqual([...kept].toSorted());
  }
});

test('[OPS-32] the backup made now stays, whatever the clock said when others were made', () => {
  const all = ['2031-03-04T03', '2026-03-04T03'].map(parsed);
  expect([...retained(all, '2026-03-04T03', { last: 1 })]).toEqual(['2026-03-04T03', '2031-03-04T03']);
});
