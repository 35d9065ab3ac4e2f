/**
 * Decides which backups stay, by the rules of restic's `forget`: the newest of each of the last days, weeks and months
 * that have one. Pure. See https://restic.readthedocs.io/en/stable/060_forget.html.
 */
import { DAY_MS } from './calendar.ts';

/** How many to keep by each rule; a backup stays if one of them keeps it. */
export interface KeepRules {
  /** The newest. */
  readonly last?: number | undefined;
  /** The newest of each of so many days (UTC) with a backup. */
  readonly daily?: number | undefined;
  /** The newest of each of so many weeks with a backup; they begin on Monday (ISO 8601). */
  readonly weekly?: number | undefined;
  readonly monthly?: number | undefined;
}

export interface KeptBackup {
  readonly name: string;
  readonly madeMs: number;
  /** Name of the backup that it is based on. */
  readonly since: string | undefined;
  /** False: it has damage, so it stands for no day, week or month. */
  readonly isWhole: boolean;
}

/** 1970-01-01 was a Thursday. */
const DAYS_TO_MONDAY = 3;

const PERIODS: Readonly<Record<Exclude<keyof KeepRules, 'last'>, (madeMs: number) => string>> = {
  daily: (madeMs) => new Date(madeMs).toISOString().slice(0, 10),
  weekly: (madeMs) => String(Math.floor((Math.floor(madeMs / DAY_MS) + DAYS_TO_MONDAY) / 7)),
  monthly: (madeMs) => new Date(madeMs).toISOString().slice(0, 7),
};

/** Returns the names of the backups that stay, with those that they are based on. `made`: the one made now, which stays. */
export function retained(backups: readonly KeptBackup[], made: string, rules: KeepRules): ReadonlySet<string> {
  const newestFirst = backups.toSorted((a, b) => b.madeMs - a.madeMs);
  const whole = newestFirst.filter(({ isWhole }) => isWhole);
  const kept = new Set([made, ...whole.slice(0, rules.last ?? 0).map(({ name }) => name)]);
  for (const rule of ['daily', 'weekly', 'monthly'] as const) {
    const seen = new Set<string>();
    for (const { name, madeMs } of whole) {
      const period = PERIODS[rule](madeMs);
      if (seen.size >= (rules[rule] ?? 0)) break;
      if (!seen.has(period)) kept.add(name);
      seen.add(period);
    }
  }
  const bases = new Map(backups.map(({ name, since }) => [name, since]));
  // The names at the end of the set are walked, too: a chain is kept down to its full backup.
  for (const name of kept) {
    const since = bases.get(name);
    if (since !== undefined) kept.add(since);
  }
  return kept;
}
