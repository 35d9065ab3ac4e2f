/** Implements the use cases of papers. Every write runs in the account's actor. Lists only read. */
import type { z } from 'zod';
import { type FieldErrors, refuseFields } from '../../common/fault.ts';
import { ONE_OF_CATEGORIES } from '../../fields/kinds.ts';
import { changeInTrash } from '../../fields/not-found.ts';
import { checkFields } from '../../fields/read.ts';
import { limits } from '../../limits/service.ts';
import { textBytes } from '../../quotas/usage.ts';
import type { Reader } from '../../store/table.ts';
import { checkExpected } from '../rules.ts';
import { DocumentService, type DocumentServiceOptions, type ReadDocument } from '../service.ts';
import { measure } from '../texts.ts';
import type { PaperRecord } from './declared.ts';
import type { NewPaper, newPaper, PaperFields, PaperQuery, paperChange } from './fields.ts';
import { paperKind } from './kind.ts';
import { type PaperHead, paperRows } from './records.ts';
import { decideCreatePaper, decidePaperBin, decidePatch, paperNotFound, scopeOf } from './rules.ts';

/** True when the account has the category. Categories belong to another capability. */
export type CategoryExists = (reader: Pick<Reader, 'get'>, accountId: string, id: number) => boolean;

interface PapersOptions extends DocumentServiceOptions {
  readonly categoryExists: CategoryExists;
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

export class Papers extends DocumentService<PaperRecord, PaperHead, PapersOptions> {
  constructor(options: PapersOptions) {
    super(paperKind, options);
  }

  /** Returns a page, newest first. A page with large contents ends early, but has at least one paper. */
  list(accountId: string, query: PaperQuery): PaperPage {
    const { store, categoryExists } = this.options;
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
      const paper = this.#live(store, accountId, key[2]);
      if (withContent) bytes += paper.json_bytes;
      found.push(this.#shown(accountId, paper, withContent ? this.hold(store, accountId, paper).text() : undefined));
    }
    return { papers: found, cursor: undefined };
  }

  /** Returns a paper with its content. Throws Refusal `not_found`. */
  get(accountId: string, id: number | undefined): ShownPaper {
    const { store } = this.options;
    const paper = this.#live(store, accountId, id);
    return this.#shown(accountId, paper, this.hold(store, accountId, paper).text());
  }

  /** Throws Refusal `not_found`, also when the version is not stored. */
  override openById(accountId: string, id: number | undefined, version?: number): ReadDocument<PaperRecord> {
    const paper = this.#live(this.options.store, accountId, id);
    return this.openStored(accountId, this.#shown(accountId, paper, undefined).paper, version);
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
    refuseFields({ ...errors, ...this.#categoryErrors(this.options.store, accountId, fields) });
    return fields as z.output<S>;
  }

  /** Stores a new paper. `by`: who does it, here and below. */
  async create(accountId: string, fields: NewPaper, by?: string): Promise<ShownPaper> {
    const { actors, quotas, now } = this.options;
    const { content = '' } = fields;
    const size = measure(content);
    const paper = await actors.account(accountId).once(['paper created', fields], (batch) => {
      refuseFields(this.#categoryErrors(batch, accountId, fields));
      quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { paper: made, head } = decideCreatePaper(fields, size, this.headOf(batch, accountId), now(), by);
      return this.put(batch, accountId, undefined, made, content, head);
    });
    return this.#shown(accountId, paper, content);
  }

  /** Returns the id of a live paper, or of one in the trash to restore. Throws Refusal `not_found`. */
  existing(accountId: string, id: number | undefined, restore = false): number {
    const paper = id === undefined ? undefined : this.find(this.options.store, accountId, id);
    if (paper === undefined) throw paperNotFound();
    if (paper.deleted_at !== null && !restore) throw changeInTrash('paper');
    return paper.id;
  }

  /**
   * Moves a paper to the trash and returns the time (ISO 8601). `expected`: the version that the caller read. Throws Refusal
   * `not_found` or `stale_version`.
   */
  async remove(accountId: string, id: number | undefined, by?: string, expected?: number): Promise<string> {
    const { actors, now } = this.options;
    return await actors.account(accountId).once(['paper removed', id], (batch) => {
      const paper = this.#live(batch, accountId, id);
      checkExpected('paper', expected, paper.version);
      const binned = decidePaperBin(paper, now(), by);
      this.put(batch, accountId, paper, binned);
      return binned.deleted_at;
    });
  }

  /** Changes the given fields. Throws Refusal `not_found` or `stale_version`. */
  async patch(accountId: string, id: number, fields: PaperFields, by?: string): Promise<ShownPaper> {
    const { actors, quotas, now } = this.options;
    const { paper, content } = await actors.account(accountId).once(['paper changed', id, fields], (batch) => {
      const before = this.find(batch, accountId, id);
      const isBinned = before !== undefined && before.deleted_at !== null;
      if (before === undefined || (isBinned && fields.restore !== true)) throw paperNotFound(isBinned);
      refuseFields(this.#categoryErrors(batch, accountId, fields));
      const current = this.hold(batch, accountId, before).text();
      const text = fields.content ?? current;
      const size = text === current ? undefined : measure(text);
      const next = decidePatch(before, this.#meant(batch, accountId, before, fields), size, now(), by);
      if (size !== undefined) quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      if (next !== before) this.put(batch, accountId, before, next, text);
      // Returns the text as well: after the commit, a later write may already have dropped this version.
      return { paper: next, content: text };
    });
    return this.#shown(accountId, paper, content);
  }

  /** Throws Refusal `invalid_fields` for a category that the account does not have. */
  checkCategory(accountId: string, fields: Pick<PaperFields, 'category_id'>): void {
    refuseFields(this.#categoryErrors(this.options.store, accountId, fields));
  }

  #shown(accountId: string, paper: PaperRecord, content: string | undefined): ShownPaper {
    const { store, categoryExists } = this.options;
    const { category_id: categoryId } = paper;
    const isGone = categoryId !== null && !categoryExists(store, accountId, categoryId);
    return { paper: isGone ? { ...paper, category_id: null } : paper, content };
  }

  /** None for a category that is deleted is what was shown, and changes nothing: restored, it has its papers again. */
  #meant(reader: Pick<Reader, 'get'>, accountId: string, before: PaperRecord, fields: PaperFields): PaperFields {
    const { category_id: asked, ...others } = fields;
    const { category_id: had } = before;
    const isShown = had === null || this.options.categoryExists(reader, accountId, had);
    return asked === null && !isShown ? others : fields;
  }

  #categoryErrors(
    reader: Pick<Reader, 'get'>,
    accountId: string,
    { category_id: id }: Pick<PaperFields, 'category_id'>,
  ): FieldErrors {
    if (id === undefined || id === null || this.options.categoryExists(reader, accountId, id)) return {};
    return { category_id: [`category_id ${ONE_OF_CATEGORIES}, or null`] };
  }

  #live(reader: Pick<Reader, 'get'>, accountId: string, id: number | undefined): PaperRecord {
    const paper = id === undefined ? undefined : this.find(reader, accountId, id);
    if (paper?.deleted_at !== null) throw paperNotFound(paper !== undefined);
    return paper;
  }
}
