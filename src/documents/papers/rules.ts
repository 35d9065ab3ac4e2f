/** Pure decisions about papers: how a write changes a paper, and which lists contain it. */
import type { Refusal } from '../../common/fault.ts';
import { changedBy } from '../../common/principal.ts';
import { recordInTrash, recordNotFound } from '../../fields/not-found.ts';
import { timeAfterIso } from '../../time/truth.ts';
import { checkExpected } from '../rules.ts';
import { declaredPaper, type PaperRecord } from './declared.ts';
import type { NewPaper, PaperFields } from './fields.ts';
import type { PaperHead } from './records.ts';

/** Size of a text; see texts.ts. */
type TextSize = Pick<PaperRecord, 'size_bytes' | 'json_bytes'>;

export interface PaperFilter {
  readonly published?: boolean | undefined;
  readonly categoryId?: number | undefined;
}

/** `isDeleted`: the paper is in the trash. */
export function paperNotFound(isDeleted = false): Refusal {
  const what = 'paper not found';
  return isDeleted ? recordInTrash(what, 'update_paper') : recordNotFound(what, 'list_papers');
}

/** Returns the scope of the list of papers that match a filter. */
export function scopeOf({ published, categoryId }: PaperFilter): string {
  const state = published === undefined ? '*' : published ? 'published' : 'draft';
  return `${state}:${categoryId ?? '*'}`;
}

/** Returns the scopes of all lists that contain a paper: none when it is in the trash. */
export function scopesOfPaper({ published, category_id: categoryId, deleted_at: deletedAt }: PaperRecord): string[] {
  if (deletedAt !== null) return [];
  const filters: PaperFilter[] = [{}, { published }];
  if (categoryId !== null) filters.push({ categoryId }, { published, categoryId });
  return filters.map(scopeOf);
}

/** Returns the next paper of an account and the new head. */
export function decideCreatePaper(
  fields: NewPaper,
  size: TextSize,
  head: PaperHead | undefined,
  nowMs: number,
  by?: string,
) {
  const at = new Date(nowMs).toISOString();
  const paper = declaredPaper.make(fields, {
    ...size,
    id: (head?.paper_id ?? 0) + 1,
    published_at: fields.published === true ? at : null,
    version: 1,
    created_at: at,
    updated_at: at,
    deleted_at: null,
  });
  return { paper: changedBy(paper, by), head: { paper_id: paper.id } satisfies PaperHead };
}

/**
 * Applies a partial update, which also restores the paper. Returns the same record when nothing changes. `size`: of a
 * new text. Throws Refusal `stale_version`.
 */
export function decidePatch(
  paper: PaperRecord,
  fields: PaperFields,
  size: TextSize | undefined,
  nowMs: number,
  by?: string,
): PaperRecord {
  checkExpected('paper', fields.expected_version, paper.version);
  const at = timeAfterIso(nowMs, paper.updated_at);
  const next = declaredPaper.change(paper, fields, {
    ...(size && { ...size, version: paper.version + 1 }),
    published_at: (fields.published ?? paper.published) ? (paper.published_at ?? at) : null,
    deleted_at: null,
  });
  return next === paper ? paper : changedBy({ ...next, updated_at: at }, by);
}

export function decidePaperBin(
  paper: PaperRecord,
  nowMs: number,
  by?: string,
): PaperRecord & { readonly deleted_at: string } {
  return changedBy({ ...paper, deleted_at: new Date(nowMs).toISOString() }, by);
}
