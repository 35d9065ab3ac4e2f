/** Owns how a caller's document or query becomes fields of a paper: every wrong one is told at once. */
import { type FieldErrors, refuseFields } from '../common/fault.ts';
import { boolean, type Checks, idOrNull, isWellFormed, readId, readMembers } from '../http/request/members.ts';
import { limits } from '../limits/service.ts';
import { textErrors } from '../versions/texts.ts';
import type { PaperFields, PaperFilter } from './rules.ts';

type Written = Omit<PaperFields, 'expected_version' | 'restore'>;

const newChecks: Checks<Required<Written>> = {
  title(value) {
    const sentence = `title must have 1 to ${limits.documentTitleCharsMax} printable characters`;
    if (typeof value !== 'string') return sentence;
    const title = value.trim().normalize('NFC');
    const fits = title !== '' && title.length <= limits.documentTitleCharsMax;
    return fits && isWellFormed(title) && !/\p{Cc}/u.test(title) ? { value: title } : sentence;
  },
  content(value) {
    if (typeof value !== 'string') return 'content must be a string';
    const [sentence] = textErrors(value)['content'] ?? [];
    return sentence ?? { value };
  },
  category_id: idOrNull('category_id', 'the id of one of your categories, or null'),
  published: boolean('published'),
};

const changeChecks: Checks<Required<PaperFields>> = {
  ...newChecks,
  expected_version: (value) =>
    Number.isSafeInteger(value) && (value as number) > 0
      ? { value: value as number }
      : 'expected_version must be a version of the paper',
  restore: boolean('restore'),
};

/** What is wrong with a category that is not null; nothing: it is there. */
export type CategoryCheck = (id: number) => boolean;

/** Reads a new paper. Refuses all wrong members at once. */
export function readNewPaper(document: unknown, hasCategory: CategoryCheck): Written {
  const { fields, errors } = readMembers<Written>(document, newChecks);
  if (fields.title === undefined) errors['title'] ??= ['title is required'];
  refuseFields({ ...errors, ...categoryErrors(fields, hasCategory) });
  return fields;
}

/** Reads a partial write. Refuses all wrong members at once. */
export function readPaperChange(document: unknown, hasCategory: CategoryCheck): PaperFields {
  const { fields, errors } = readMembers<PaperFields>(document, changeChecks);
  refuseFields({ ...errors, ...categoryErrors(fields, hasCategory) });
  return fields;
}

/** Reads `{"published": true}` or false. */
export function readPublished(document: unknown): Pick<PaperFields, 'published'> {
  const checks = { published: boolean('published') };
  const { fields, errors } = readMembers<Pick<PaperFields, 'published'>>(document, checks);
  if (fields.published === undefined) errors['published'] ??= ['published is required'];
  refuseFields(errors);
  return fields;
}

export function categoryErrors({ category_id: id }: PaperFields, hasCategory: CategoryCheck): FieldErrors {
  if (id === undefined || id === null || hasCategory(id)) return {};
  return { category_id: ['category_id must be the id of one of your categories, or null'] };
}

export interface PaperQuery extends PaperFilter {
  readonly includeContent: boolean;
  readonly limit: number;
  /** Only papers made before this one. */
  readonly beforeId: number | undefined;
}

/** Reads the query of a list. Refuses all wrong values at once. */
export function readPaperQuery(query: URLSearchParams): PaperQuery {
  const errors: Record<string, string[]> = {};
  const take = <T>(field: string, read: (text: string) => T | undefined, sentence: string): T | undefined => {
    const text = query.get(field);
    const value = text === null ? undefined : read(text);
    if (text !== null && value === undefined) errors[field] = [`${field} must be ${sentence}`];
    return value;
  };
  const flag = (field: string) =>
    take(field, (text) => (text === 'true' ? true : text === 'false' ? false : undefined), 'true or false');
  const isLimit = (value: number) => value >= 1 && value <= limits.paperPageMax;
  const found: PaperQuery = {
    published: flag('published'),
    categoryId: take('category_id', readId, 'the id of a category'),
    includeContent: flag('include_content') ?? false,
    limit:
      take(
        'limit',
        (text) => (/^\d{1,5}$/.test(text) && isLimit(Number(text)) ? Number(text) : undefined),
        `a whole number from 1 to ${limits.paperPageMax}`,
      ) ?? limits.paperPageDefault,
    beforeId: take('cursor', readId, 'one that this list gave; leave it out to begin again'),
  };
  refuseFields(errors);
  return found;
}
