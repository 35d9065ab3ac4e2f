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
import { devDocKind, titleKey } from './kind.ts';
import { type DevDocListRequest, type DocList, listDocs } from './list.ts';
import { type DocReference, findAny, findLive, titledDoc } from './lookup.ts';
import { type DocPull, type PullRequest, planPull } from './pull.ts';
import { type DevDocHead, devDocChanges, devDocTitles } from './records.ts';
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

interface DevDocOptions extends DocumentServiceOptions {
  /** The documents that may contain a text, by their numbers; undefined: any may. */
  readonly mayContain: (accountId: string, text: string) => Promise<readonly number[] | undefined>;
}

export class DevDocs extends DocumentService<DevDocRecord, DevDocHead, DevDocOptions> {
  constructor(options: DevDocOptions) {
    super(devDocKind, options);
  }

  /** Returns a page of documents without texts, from one snapshot. */
  async list(accountId: string, request: DevDocListRequest): Promise<DocList> {
    const { store, mayContain } = this.options;
    const { search = '' } = request;
    const found = search === '' ? undefined : await mayContain(accountId, search);
    const among = found?.toSorted((one, other) => other - one);
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
    const id = this.options.store.get(devDocTitles, titleKey(accountId, { title: cleanName(title), category }, 'live'));
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

  /** Replaces, extends or restores a document. Throws Refusal `not_found` or `stale_version`. */
  async update(accountId: string, change: DevDocChange, by?: string): Promise<DevDocRecord> {
    const { id, title, category, content, mode = 'replace', expected_version: expected, restore, ...fields } = change;
    if (content === undefined && restore !== true && Object.keys(fields).length === 0)
      throw invalidField('content', 'content is required');
    const { actors, quotas, now } = this.options;
    return actors.account(accountId).once(['dev doc changed', change], (batch) => {
      const doc = (restore === true ? findAny : findLive)(batch, accountId, { id, title, category });
      checkExpected('dev doc', expected, doc.version);
      const isBinned = doc.deleted_at !== null;
      if (isBinned) refuseFields(titleErrors(batch, accountId, doc));
      const current = this.hold(batch, accountId, doc).text();
      const text = content === undefined ? current : joinText(mode, current, content);
      if (text === current && !isBinned && declaredDoc.change(doc, fields) === doc) return doc;
      refuseFields(textErrors(text));
      const size = text === current ? undefined : measure(text);
      if (size !== undefined) quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { doc: next, head } = decideWrite(doc, size, this.headOf(batch, accountId), now(), by, fields);
      return this.put(batch, accountId, doc, next, text, head);
    });
  }

  /**
   * Gives a document another title, or another category, which is created if missing. Its versions stay. Throws Refusal
   * `not_found`, `stale_version`, or `invalid_fields` when there is a document of this name.
   */
  async move(accountId: string, reference: DocReference, to: DocNames, by?: string, expected?: number) {
    const { actors, now } = this.options;
    return actors.account(accountId).once(['dev doc moved', reference, to], (batch) => {
      const doc = findLive(batch, accountId, reference);
      checkExpected('dev doc', expected, doc.version);
      const names = { title: cleanName(to.title ?? doc.title), category: foldName(to.category ?? doc.category) };
      const holder = batch.get(devDocTitles, titleKey(accountId, names, 'live'));
      if (holder !== undefined && holder !== doc.id)
        throw invalidField('title', `${names.category} already has a dev doc with this title; choose another one`);
      if (names.title === doc.title && names.category === doc.category) return doc;
      const { doc: next, head } = decideMove(doc, names, this.headOf(batch, accountId), now(), by);
      return this.put(batch, accountId, doc, next, undefined, head);
    });
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
function titleErrors(batch: Batch, accountId: string, names: Pick<DevDocRecord, 'title' | 'category'>) {
  if (batch.get(devDocTitles, titleKey(accountId, names, 'live')) === undefined) return {};
  return { title: [`${names.category} already has a dev doc with this title; change it with update_dev_doc`] };
}
