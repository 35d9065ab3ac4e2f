/** Implements the use cases of papers. Every write runs in the account's actor. Lists only read. */
import type { z } from 'zod';
import type { ActorRegistry } from '../../actors/registry.ts';
import { type FieldErrors, refuseFields } from '../../common/fault.ts';
import { ONE_OF_CATEGORIES } from '../../fields/kinds.ts';
import { checkFields, readFields } from '../../fields/read.ts';
import { limits } from '../../limits/service.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { recordBytes, textBytes } from '../../quotas/usage.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { putInBin, takeFromBin } from '../bin.ts';
import { type DocumentName, dropVersion, keptText, measure, putVersion } from '../texts.ts';
import { newPaper, type PaperFields, type PaperQuery, paperChange, publication } from './fields.ts';
import { type PaperRecord, paperHeads, paperRows, papers } from './records.ts';
import { decideBin, decideCreate, decidePatch, paperNotFound, scopeOf, scopesOf } from './rules.ts';

/** True when the account has the category. Categories belong to another capability. */
type CategoryExists = (reader: Pick<Reader, 'get'>, accountId: string, id: number) => boolean;

export interface PapersOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly quotas: Quotas;
  readonly categoryExists: CategoryExists;
  readonly now: () => number;
}

/** A paper as callers see it: a deleted category is null. */
export interface ShownPaper {
  readonly paper: PaperRecord;
  /** Undefined when not requested. */
  readonly content: string | undefined;
}

export interface PaperPage {
  readonly papers: readonly ShownPaper[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly cursor: string | undefined;
}

export class Papers {
  readonly #options: PapersOptions;

  constructor(options: PapersOptions) {
    this.#options = options;
  }

  /** Returns a page, newest first. A page with large contents ends early, but has at least one paper. */
  list(accountId: string, query: PaperQuery): PaperPage {
    const { store, categoryExists } = this.#options;
    const { category_id: categoryId, include_content: withContent, limit, cursor = Number.MAX_SAFE_INTEGER } = query;
    if (categoryId !== undefined && !categoryExists(store, accountId, categoryId))
      return { papers: [], cursor: undefined };
    const found: ShownPaper[] = [];
    let bytes = 0;
    const rows = {
      prefix: [accountId, scopeOf({ published: query.published, categoryId })],
      reverse: true,
      beyond: cursor,
      limit: limit + 1,
    };
    for (const { key } of store.range(paperRows, rows)) {
      const isFull = found.length === limit || (found.length > 0 && bytes > limits.paperPageBytes);
      if (isFull) return { papers: found, cursor: String(found.at(-1)?.paper.id) };
      const paper = live(store, accountId, key[2]);
      if (withContent) bytes += paper.json_bytes;
      found.push(this.#shown(accountId, paper, withContent ? textOf(store, accountId, paper) : undefined));
    }
    return { papers: found, cursor: undefined };
  }

  /** Papers in the trash, what was deleted last first; of the newest papers of an account, at most `limits.binScanMax`. */
  deleted(accountId: string): (PaperRecord & { readonly deleted_at: string })[] {
    const rows = { prefix: [accountId], reverse: true, limit: limits.binScanMax };
    return this.#options.store
      .range(papers, rows)
      .flatMap(({ value }) => (value.deleted_at === null ? [] : [{ ...value, deleted_at: value.deleted_at }]))
      .sort((a, b) => b.deleted_at.localeCompare(a.deleted_at));
  }

  /** Returns a paper with its content. Throws Refusal `not_found`. */
  get(accountId: string, id: number | undefined): ShownPaper {
    const { store } = this.#options;
    const paper = live(store, accountId, id);
    return this.#shown(accountId, paper, textOf(store, accountId, paper));
  }

  /**
   * Validates a caller's document. Throws Refusal `invalid_fields` with all errors at once, including an unknown
   * category. `whole`: name of the document in errors.
   */
  read<S extends typeof newPaper | typeof paperChange>(
    accountId: string,
    schema: S,
    document: unknown,
    whole?: string,
  ): z.output<S> {
    const { fields, errors } = checkFields(schema, document, whole);
    refuseFields({ ...errors, ...this.#categoryErrors(this.#options.store, accountId, fields) });
    return fields as z.output<S>;
  }

  /** Stores a new paper from a caller's document. `by`: who does it, here and below. */
  async create(accountId: string, document: unknown, by?: string): Promise<ShownPaper> {
    return await this.add(accountId, this.read(accountId, newPaper, document), by);
  }

  /** Stores a new paper from validated fields. */
  async add(accountId: string, fields: z.output<typeof newPaper>, by?: string): Promise<ShownPaper> {
    const { actors, quotas, now } = this.#options;
    const { content = '' } = fields;
    const size = measure(content);
    const paper = await actors.account(accountId).ask((batch) => {
      refuseFields(this.#categoryErrors(batch, accountId, fields));
      quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { paper: made, head } = decideCreate(fields, size, batch.get(paperHeads, [accountId]), now(), by);
      batch.put(paperHeads, [accountId], head);
      batch.put(papers, [accountId, made.id], made);
      putVersion(batch, nameOf(accountId, made), made.version, content, { at: made.updated_at, by });
      moveRows(batch, accountId, undefined, made);
      return made;
    });
    return this.#shown(accountId, paper, content);
  }

  /** Changes the fields that the caller's document contains. Throws Refusal `not_found` or `stale_version`. */
  async patch(accountId: string, id: number | undefined, document: unknown, by?: string): Promise<ShownPaper> {
    const { store } = this.#options;
    if (id === undefined || store.get(papers, [accountId, id]) === undefined) throw paperNotFound();
    return await this.change(accountId, id, this.read(accountId, paperChange, document), by);
  }

  /** Publishes a paper, or makes it a draft again. Throws Refusal `not_found`. */
  async publish(accountId: string, id: number | undefined, document: unknown, by?: string): Promise<ShownPaper> {
    if (id === undefined || this.#options.store.get(papers, [accountId, id]) === undefined) throw paperNotFound();
    return await this.change(accountId, id, readFields(publication, document), by);
  }

  /** Moves a paper to the trash and returns the time (ISO 8601). Throws Refusal `not_found`. */
  async remove(accountId: string, id: number | undefined, by?: string): Promise<string> {
    const { actors, now } = this.#options;
    return await actors.account(accountId).ask((batch) => {
      const paper = live(batch, accountId, id);
      const binned = decideBin(paper, now(), by);
      batch.put(papers, [accountId, paper.id], binned);
      putInBin(batch, binnedMs(binned), nameOf(accountId, paper));
      moveRows(batch, accountId, paper, undefined);
      return binned.deleted_at;
    });
  }

  /** As `patch`, with validated fields. */
  async change(accountId: string, id: number, fields: PaperFields, by?: string): Promise<ShownPaper> {
    const { actors, quotas, now } = this.#options;
    const { paper, content } = await actors.account(accountId).ask((batch) => {
      const before = batch.get(papers, [accountId, id]);
      const isBinned = before !== undefined && before.deleted_at !== null;
      if (before === undefined || (isBinned && fields.restore !== true)) throw paperNotFound(isBinned);
      refuseFields(this.#categoryErrors(batch, accountId, fields));
      const name = nameOf(accountId, before);
      const current = keptText(batch, name, before.version);
      const text = fields.content ?? current;
      const next = decidePatch(before, fields, text === current ? undefined : measure(text), now(), by);
      // Returns the text as well: after the commit, a later write may already have dropped this version.
      if (next === before) return { paper: before, content: text };
      if (isBinned) takeFromBin(batch, binnedMs(before), name);
      if (text !== current) {
        quotas.check(batch, accountId, 'documents', recordBytes(text) - recordBytes(current));
        putVersion(batch, name, next.version, text, { at: next.updated_at, by });
        dropVersion(batch, name, before.version);
      }
      batch.put(papers, [accountId, id], next);
      moveRows(batch, accountId, isBinned ? undefined : before, next);
      return { paper: next, content: text };
    });
    return this.#shown(accountId, paper, content);
  }

  #shown(accountId: string, paper: PaperRecord, content: string | undefined): ShownPaper {
    const { store, categoryExists } = this.#options;
    const { category_id: categoryId } = paper;
    const isGone = categoryId !== null && !categoryExists(store, accountId, categoryId);
    return { paper: isGone ? { ...paper, category_id: null } : paper, content };
  }

  #categoryErrors(reader: Pick<Reader, 'get'>, accountId: string, { category_id: id }: PaperFields): FieldErrors {
    if (id === undefined || id === null || this.#options.categoryExists(reader, accountId, id)) return {};
    return { category_id: [`category_id ${ONE_OF_CATEGORIES}, or null`] };
  }
}

/** Removes the rows of a paper in the trash, except its text. */
export function forgetPaper(batch: Batch, accountId: string, id: number): void {
  batch.remove(papers, [accountId, id]);
}

function live(reader: Pick<Reader, 'get'>, accountId: string, id: number | undefined): PaperRecord {
  const paper = id === undefined ? undefined : reader.get(papers, [accountId, id]);
  if (paper?.deleted_at !== null) throw paperNotFound(paper !== undefined);
  return paper;
}

/** Updates the rows of a paper that was changed, added (`before` undefined) or removed (`after` undefined). */
export function moveRows(
  batch: Batch,
  accountId: string,
  before: PaperRecord | undefined,
  after: PaperRecord | undefined,
): void {
  const stale = new Set(before === undefined ? [] : scopesOf(before));
  const id = (after ?? before)?.id ?? 0;
  for (const scope of after === undefined ? [] : scopesOf(after)) {
    if (!stale.delete(scope)) batch.put(paperRows, [accountId, scope, id], {});
  }
  for (const scope of stale) batch.remove(paperRows, [accountId, scope, id]);
}

function nameOf(accountId: string, { id }: Pick<PaperRecord, 'id'>): DocumentName {
  return { accountId, space: 'papers', id };
}

function textOf(reader: Pick<Reader, 'get'>, accountId: string, paper: PaperRecord): string {
  return keptText(reader, nameOf(accountId, paper), paper.version);
}

function binnedMs({ deleted_at: at }: PaperRecord): number {
  return Date.parse(at ?? '');
}
