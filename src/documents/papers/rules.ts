/** Pure decisions about papers: how a write changes a paper, and which lists contain it. */
import type { Refusal } from '../../common/fault.ts';
import { changedBy } from '../../common/principal.ts';
import { staleVersion } from '../../fields/expected-version.ts';
import { recordInTrash, recordNotFound } from '../../fields/not-found.ts';
import type { PaperFields } from './fields.ts';
import type { PaperHead, PaperRecord } from './records.ts';

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

/** Returns the scopes of all lists that contain a live paper. */
export function scopesOf({ published, category_id: categoryId }: PaperRecord): string[] {
  const filters: PaperFilter[] = [{}, { published }];
  if (categoryId !== null) filters.push({ categoryId }, { published, categoryId });
  return filters.map(scopeOf);
}

/** Returns the next paper of an account and the new head. */
export function decideCreate(
  fields: PaperFields,
  size: TextSize,
  head: PaperHead | undefined,
  nowMs: number,
  by?: string,
) {
  const at = new Date(nowMs).toISOString();
  const published = fields.published ?? false;
  const paper: PaperRecord = {
    id: (head?.paper_id ?? 0) + 1,
    title: fields.title ?? '',
    category_id: fields.category_id ?? null,
    published,
    published_at: published ? at : null,
    version: 1,
    ...size,
    created_at: at,
    updated_at: at,
    deleted_at: null,
  };
  return { paper: changedBy(paper, by), head: { paper_id: paper.id } satisfies PaperHead };
}

/**
 * Applies a partial update. Returns the same record when nothing changes. `size`: of a new text. Throws Refusal
 * `stale_version`.
 */
export function decidePatch(
  paper: PaperRecord,
  fields: PaperFields,
  size: TextSize | undefined,
  nowMs: number,
  by?: string,
): PaperRecord {
  if (fields.expected_version !== undefined && fields.expected_version !== paper.version) {
    throw staleVersion('paper', fields.expected_version, paper.version);
  }
  const at = new Date(Math.max(nowMs, Date.parse(paper.updated_at))).toISOString();
  const published = fields.published ?? paper.published;
  const next: PaperRecord = {
    ...paper,
    ...size,
    title: fields.title ?? paper.title,
    category_id: fields.category_id === undefined ? paper.category_id : fields.category_id,
    published,
    published_at: published ? (paper.published_at ?? at) : null,
    version: paper.version + (size === undefined ? 0 : 1),
    deleted_at: null,
  };
  const written = ['title', 'category_id', 'published', 'version', 'deleted_at'] as const;
  return written.every((field) => next[field] === paper[field]) ? paper : changedBy({ ...next, updated_at: at }, by);
}

export function decideBin(
  paper: PaperRecord,
  nowMs: number,
  by?: string,
): PaperRecord & { readonly deleted_at: string } {
  return changedBy({ ...paper, deleted_at: new Date(nowMs).toISOString() }, by);
}
