/** Formats what the tools for models answer. Pure. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { headed, plural } from '../../gateway/words.ts';

const outcome = z.object({ id: z.string(), done: z.boolean(), says: z.string() });
export const outcomes = z.object({ results: z.array(outcome) });
export type Outcome = z.output<typeof outcome>;

/** `12 bytes`, `3.4 KB`, `1.2 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return plural(bytes, 'byte');
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `2026-11-20T20:18:57.123Z` becomes `2026-11-20T20:18Z`, which costs a model less. */
export function minute(instant: string): string {
  return `${instant.slice(0, 16)}Z`;
}

/** Results of several steps: those that failed first, and what was done in short. `why`: why there are none. */
export function outcomesText(verb: string, results: readonly Outcome[], why?: string) {
  const failed = results.filter(({ done }) => !done);
  const done = results.length - failed.length;
  const headline = `${done} ${verb}${failed.length === 0 ? '' : `, ${failed.length} not`}${why === undefined ? '' : `; ${why}`}`;
  const sorted = [...failed, ...results.filter((one) => one.done)];
  return { structured: { results: [...results] }, text: headed(headline, sorted, (one) => `${one.id} ${one.says}`) };
}

/** The ids of a call that takes several: one alone is a list of one. Throws Refusal `invalid_fields` when there is none. */
export function idsGiven(one: string | undefined, several: readonly string[] | undefined): readonly string[] {
  if (one === undefined && several === undefined) throw invalidField('ids', 'ids is required');
  return [...new Set([...(one === undefined ? [] : [one]), ...(several ?? [])])];
}

/** The name that `by` means: a caller may call itself me. Undefined: not sent. */
export function nameMeant(by: string | undefined, own: string): string | undefined {
  return by !== undefined && ['me', 'myself', 'self', 'you'].includes(by.trim().toLowerCase()) ? own : by;
}
