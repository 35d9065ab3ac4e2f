/** Decides which changes of conditions are told: each condition once, and once when it is over. Pure. */
import { limits } from '../../limits/service.ts';
import { type ConditionName, conditionOf, type Severity } from './rules.ts';

/** A condition that was told. */
export interface Told {
  readonly sinceMs: number;
  /** When it was first seen to be gone; undefined: it holds. */
  readonly goneMs?: number | undefined;
}

export type ToldConditions = ReadonlyMap<ConditionName, Told>;

export interface ConditionChange {
  readonly name: ConditionName;
  readonly isOver: boolean;
  /** A condition of the same family that this one replaces: the disk was 90 % full and is now 95 % full. */
  readonly before?: ConditionName | undefined;
  readonly sinceMs: number;
}

/**
 * Compares what holds now with what was told. A condition is over when it has been gone for `conditionQuietMs`; one that
 * returns before that is not told again.
 */
export function conditionChanges(
  told: ToldConditions,
  now: readonly ConditionName[],
  nowMs: number,
): { readonly told: ToldConditions; readonly changes: readonly ConditionChange[] } {
  const next = new Map<ConditionName, Told>();
  const changes: ConditionChange[] = [];
  const holding = now.filter((name) => conditionOf(name).isUntold !== true);
  for (const name of holding) {
    const known = told.get(name);
    const before = [...told.keys()].find((one) => one !== name && conditionOf(one).family === conditionOf(name).family);
    if (known === undefined) changes.push({ name, isOver: false, before, sinceMs: nowMs });
    next.set(name, { sinceMs: known?.sinceMs ?? nowMs });
  }
  const families = new Set(holding.map((name) => conditionOf(name).family));
  for (const [name, { sinceMs, goneMs = nowMs }] of told) {
    if (families.has(conditionOf(name).family)) continue;
    if (nowMs - goneMs >= limits.conditionQuietMs) changes.push({ name, isOver: true, sinceMs });
    else next.set(name, { sinceMs, goneMs });
  }
  return { told: next, changes };
}

/** Words of a change for a letter or a message: a line, and the sentences after it. */
export function wordsOf(
  { name, isOver, before, sinceMs }: ConditionChange,
  hub: string,
): { readonly title: string; readonly text: string; readonly severity: Severity | 'over' } {
  const { title, message, severity } = conditionOf(name);
  const since = new Date(sinceMs).toISOString();
  if (isOver) return { title: `${hub}: over: ${title}`, text: `It began at ${since} and is over.`, severity: 'over' };
  const instead = before === undefined ? '' : ` Before: ${conditionOf(before).title}.`;
  return { title: `${hub}: ${title}`, text: `${message}${instead} Since ${since}.`, severity };
}
