/** Implements the use cases of dev docs. Every write runs in the account's actor. Lists and pulls only read. */
import { invalidField, refuseFields } from '../../common/fault.ts';
import { textBytes } from '../../quotas/usage.ts';
import type { Batch } from '../../store/group-commit.ts';
import { readInTurns } from '../../store/in-turns.ts';
import { checkExpected, cleanName, foldName } from '../rules.ts';
import { DocumentService, type DocumentServiceOptions, type ReadDocument } from '../service.ts';
import { measure, textErrors } from '../texts.ts';
import { categoryErrors, type DevCategory, listCategories } from './categories.ts';
import { type DevDocRecord, declaredDoc } from './declared.ts';
import type { DevDocChange, NewDevDoc } from './fields.ts';
import { devDocKind, holderOf } from './kind.ts';
import {
  type CandidateQuery,
  type Candidates,
  candidateQuery,
  type DevDocListRequest,
  type DocList,
  listDocs,
} from './list.ts';
import { checkReference, type DocReference, findAny, findLive, titledDoc } from './lookup.ts';
import { type DocPull, type PullRequest, planPull } from './pull.ts';
import { type DevDocHead, devDocChanges } from './records.ts';
import {
  changeScope,
  contentTypeOf,
  decideCreateDoc,
  decideDocBin,
  decideMove,
  decideWrite,
  joinText,
} from './rules.ts';

export interface DevDocReadRequest extends DocReference {
  /** Undefined: the current version. */
  readonly version?: number | undefined;
}

/** What a document is called; undefined: as before. */
export interface DocNames {
  readonly title?: string | undefined;
  readonly category?: string | undefined;
}

type Names = Pick<DevDocRecord, 'title' | 'category'>;

interface DevDocOptions extends DocumentServiceOptions {
  /** The documents that may contain a text; undefined: any may. */
  readonly mayContain: (query: CandidateQuery) => Promise<Candidates | undefined>;
}

export class DevDocs extends DocumentService<DevDocRecord, DevDocHead, DevDocOptions> {
  constructor(options: DevDocOptions) {
    super(devDocKind, options);
  }

  /** Returns a page of documents without texts, from one snapshot. */
  async list(accountId: string, request: DevDocListRequest): Promise<DocList> {
    const { store, mayContain } = this.options;
    const query = candidateQuery(accountId, request);
    const among = query && (await mayContain(query));
    return await readInTurns(store, accountId, (reader) => listDocs(reader, accountId, request, among));
  }

  categories(accountId: string): DevCategory[] {
    return listCategories(this.options.store, accountId);
  }

  /** Returns a document with its text. Throws Refusal `not_found`, also when the version is not stored. */
  get(accountId: string, { version, ...reference }: DevDocReadRequest): ReadDocument<DevDocRecord> {
    return this.openStored(accountId, findLive(this.options.store, accountId, reference), version);
  }

  /** A live document with its text; undefined when there is none. */
  openLive(accountId: string, id: number): ReadDocument<DevDocRecord> | undefined {
    const doc = this.find(this.options.store, accountId, id);
    return doc === undefined || doc.deleted_at !== null ? undefined : this.open(accountId, doc);
  }

  /** As `openLive`, by its title in a category. */
  openTitled(accountId: string, category: string, title: string): ReadDocument<DevDocRecord> | undefined {
    const id = holderOf(this.options.store, accountId, { title: cleanName(title), category });
    return id === undefined ? undefined : this.openLive(accountId, id);
  }

  /** A live document by its title alone, with or without its ending. */
  titled(accountId: string, title: string): DevDocRecord | undefined {
    return titledDoc(this.options.store, accountId, title);
  }

  override openById(accountId: string, id: number, version?: number): ReadDocument<DevDocRecord> {
    return this.get(accountId, { id, version });
  }

  /** Documents that changed last, deleted ones too, the newest change first. */
  recent(accountId: string, limit: number): DevDocRecord[] {
    const { store } = this.options;
    const rows = { prefix: [accountId, changeScope(undefined)], reverse: true, limit };
    return store.range(devDocChanges, rows).flatMap(({ value: id }) => this.find(store, accountId, id) ?? []);
  }

  /** Returns the changes. Their texts are read while they are sent. */
  pull(accountId: string, request: PullRequest): DocPull {
    return planPull(this.options.store, accountId, request, this.options.now());
  }

  /**
   * Stores a new document. Throws Refusal `invalid_fields` when the title is a duplicate or the category is unknown;
   * `quota_exceeded` or `storage_reserved` when there is no room. `by`: who does it, here and below.
   */
  async create(accountId: string, given: NewDevDoc, by?: string): Promise<DevDocRecord> {
    const { actors, quotas, now } = this.options;
    const title = cleanName(given.title);
    const category = foldName(given.category ?? 'docs');
    const fields = { ...given, title, category, content_type: given.content_type ?? contentTypeOf(title) };
    const size = measure(given.content);
    return actors.account(accountId).once(['dev doc created', fields], (batch) => {
      const hint = '; or send create_category: true to create it';
      refuseFields({
        ...(given.create_category === true ? {} : categoryErrors(batch, accountId, category, hint)),
        ...titleErrors(batch, accountId, fields),
      });
      quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { doc, head } = decideCreateDoc(fields, size, this.headOf(batch, accountId), now(), by);
      return this.put(batch, accountId, undefined, doc, given.content, head);
    });
  }

  /** The document that a reference names, also in the trash. Throws Refusal `not_found`. */
  named(accountId: string, reference: DocReference): DevDocRecord {
    return findAny(this.options.store, accountId, reference);
  }

  /**
   * Replaces, extends, renames or restores a document. A new category is created if missing. Throws Refusal `not_found`,
   * `stale_version`, or `invalid_fields`, as when there is a document of this name.
   */
  async update(accountId: string, change: DevDocChange, by?: string): Promise<DevDocRecord> {
    const { id, title, category, new_title: newTitle, new_category: newCategory, content, ...others } = change;
    const { mode = 'replace', expected_version: expected, restore, ...fields } = others;
    checkReference(change, MEANT_AS_NEW);
    if (content === undefined && restore !== true && [newTitle, newCategory, ...Object.values(fields)].every(isUnset))
      throw invalidField('content', 'content is required, or new_title, new_category, content_type or restore');
    const { actors, quotas, now } = this.options;
    return actors.account(accountId).once(['dev doc changed', change], (batch) => {
      const before = (restore === true ? findAny : findLive)(batch, accountId, { id, title, category });
      checkExpected('dev doc', expected, before.version);
      const names = { title: cleanName(newTitle ?? before.title), category: foldName(newCategory ?? before.category) };
      const isNamed = names.title === before.title && names.category === before.category;
      const isBinned = before.deleted_at !== null;
      if (isBinned || !isNamed)
        refuseTaken(batch, accountId, before, names, newTitle === undefined ? 'title' : 'new_title');
      const moved = isNamed ? undefined : decideMove(before, names, this.headOf(batch, accountId), now(), by);
      const { doc, head: last } = moved ?? { doc: before, head: this.headOf(batch, accountId) };
      const current = this.hold(batch, accountId, before).text();
      const text = content === undefined ? current : joinText(mode, current, content);
      if (text === current && !isBinned && isNamed && declaredDoc.change(doc, fields) === doc) return doc;
      refuseFields(textErrors(text));
      const size = text === current ? undefined : measure(text);
      if (size !== undefined) quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { doc: next, head } = decideWrite(doc, size, last, now(), by, fields);
      return this.put(batch, accountId, before, next, text, head);
    });
  }

  /** Gives a document another title, or another category, as `update` does. Its versions stay. */
  async move(
    accountId: string,
    reference: DocReference,
    { title, category }: DocNames,
    by?: string,
    expected?: number,
  ) {
    const to = { new_title: title, new_category: category, expected_version: expected };
    return await this.update(accountId, { ...reference, ...to }, by);
  }

  /**
   * Moves a document to the trash, unless it is already there. `expected`: the version that the caller read. Throws Refusal
   * `not_found` or `stale_version`.
   */
  async remove(accountId: string, reference: DocReference, by?: string, expected?: number): Promise<DevDocRecord> {
    const { actors, now } = this.options;
    return actors.account(accountId).once(['dev doc removed', reference], (batch) => {
      const doc = findAny(batch, accountId, reference);
      checkExpected('dev doc', expected, doc.version);
      if (doc.deleted_at !== null) return doc;
      const { doc: binned, head } = decideDocBin(doc, this.headOf(batch, accountId), now(), by);
      return this.put(batch, accountId, doc, binned, undefined, head);
    });
  }
}

/** Returns the field errors of the title of a document that becomes live in its category. */
function titleErrors(batch: Batch, accountId: string, names: Names) {
  if (holderOf(batch, accountId, names) === undefined) return {};
  return { title: [taken(names, 'change it with update_dev_doc')] };
}

/** What is said of a name beside the id of a change. */
const MEANT_AS_NEW = {
  title: '; new_title gives it another title',
  category: '; new_category moves it to another one',
};

const isUnset = (value: unknown): boolean => value === undefined;

/** Throws Refusal `invalid_fields` when another live document has the names that a document is to have. */
function refuseTaken(
  batch: Batch,
  accountId: string,
  { id, deleted_at }: DevDocRecord,
  names: Names,
  field: string,
): void {
  const holder = holderOf(batch, accountId, names);
  if (holder === undefined || holder === id) return;
  const next = deleted_at === null ? 'choose another one' : 'restore it with a new_title, or rename that one';
  throw invalidField(field, taken(names, next));
}

function taken({ category }: Names, next: string): string {
  return `${category} already has a dev doc with this title; ${next}`;
}
