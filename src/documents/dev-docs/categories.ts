/** Lists the categories of an account: built-in ones, and its own, which exist while they contain documents. */
import type { FieldErrors } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Reader } from '../../store/table.ts';
import { nearest } from '../../text/nearest.ts';
import { foldName } from '../rules.ts';
import { CATEGORIES } from './declared.ts';
import { devDocCounts } from './records.ts';

export interface DevCategory {
  readonly name: string;
  /** Number of live documents in the category. */
  readonly docs: number;
  /** True for a category of every account. */
  readonly builtIn: boolean;
}

/** Returns the built-in categories in their order, then the account's own by name. */
export function listCategories(reader: Pick<Reader, 'range'>, accountId: string): DevCategory[] {
  const rows = reader.range(devDocCounts, { prefix: [accountId] });
  const counts = new Map(rows.map(({ key, value }) => [key[1], value.docs]));
  const given = CATEGORIES.map((name) => ({ name, docs: counts.get(name) ?? 0, builtIn: true }));
  for (const name of CATEGORIES) counts.delete(name);
  return [...given, ...[...counts].map(([name, docs]) => ({ name, docs, builtIn: false }))];
}

/** Returns the field errors of a category that must exist. */
export function categoryErrors(
  reader: Pick<Reader, 'get' | 'range'>,
  accountId: string,
  category: string,
  hint = '',
): FieldErrors {
  if (CATEGORIES.some((name) => name === category)) return {};
  if (reader.get(devDocCounts, [accountId, category]) !== undefined) return {};
  const names = listCategories(reader, accountId).map(({ name }) => name);
  const guess = nearest(category, names);
  const told =
    guess === undefined
      ? `it is one of ${names.slice(0, limits.devDocCategoriesTold).join(', ')}`
      : `did you mean ${guess}?`;
  return { category: [`category ${category} is unknown; ${told}${hint}`] };
}

/** Returns the stored form of a category to filter by, and its field errors. */
export function filterCategory(reader: Pick<Reader, 'get' | 'range'>, accountId: string, given: string | undefined) {
  if (given === undefined) return { category: undefined, errors: {} };
  const category = foldName(given);
  return { category, errors: categoryErrors(reader, accountId, category) };
}
