/** Implements the use cases of dev docs. Every write runs in the account's actor. Lists and pulls only read. */
import type { ActorRegistry } from '../../actors/registry.ts';
import { invalidField, Refusal, refuseFields } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { textBytes } from '../../quotas/usage.ts';
import type { Batch } from '../../store/group-commit.ts';
import { readInTurns } from '../../store/in-turns.ts';
import type { Store } from '../../store/store.ts';
import { putInBin, takeFromBin } from '../bin.ts';
import {
  type DocumentName,
  dropVersion,
  keptText,
  measure,
  putVersion,
  readText,
  readVersion,
  textErrors,
  type Version,
  versionsOf,
} from '../texts.ts';
import { categoryErrors, type DevCategory, listCategories } from './categories.ts';
import { changeScope, moveDoc } from './indexes.ts';
import { type DevDocListRequest, type DocList, listDocs } from './list.ts';
import { type DocReference, findAny, findLive } from './lookup.ts';
import { type DocPull, type PullRequest, planPull } from './pull.ts';
import { type ContentType, type DevDocRecord, devDocChanges, devDocHeads, devDocs, devDocTitles } from './records.ts';
import {
  checkVersion,
  cleanTitle,
  contentTypeOf,
  decideBin,
  decideCreate,
  decideWrite,
  foldCategory,
  foldTitle,
  joinText,
  type Mode,
} from './rules.ts';
import { moveGrams } from './text-index/gram-index.ts';
import { signatureOf } from './text-index/grams.ts';

export interface DevDocsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly quotas: Quotas;
  readonly now: () => number;
}

export interface NewDevDoc {
  readonly title: string;
  readonly content: string;
  readonly category?: string | undefined;
  readonly content_type?: ContentType | undefined;
  /** Creates the category if it does not exist. */
  readonly create_category?: boolean | undefined;
}

export interface DevDocWrite extends DocReference {
  /** Undefined keeps the current text. */
  readonly content?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly expected_version?: number | undefined;
  /** Restores the document if it is in the trash. */
  readonly restore?: boolean | undefined;
}

export interface ReadRequest extends DocReference {
  /** Undefined: the current version. */
  readonly version?: number | undefined;
}

/** One version of a document with its text. */
export interface ReadDoc {
  readonly doc: DevDocRecord;
  readonly shown: Version;
  readonly content: string;
}

export class DevDocs {
  readonly #options: DevDocsOptions;

  constructor(options: DevDocsOptions) {
    this.#options = options;
  }

  /** Returns a page of documents without texts, from one snapshot. A promise when it needs more than one turn. */
  list(accountId: string, request: DevDocListRequest): DocList | Promise<DocList> {
    return readInTurns(this.#options.store, accountId, (reader) => listDocs(reader, accountId, request));
  }

  categories(accountId: string): DevCategory[] {
    return listCategories(this.#options.store, accountId);
  }

  /** Returns a document with its text. Throws Refusal `not_found`, also when the version is not stored. */
  get(accountId: string, { version, ...reference }: ReadRequest): ReadDoc {
    const { store } = this.#options;
    const doc = findLive(store, accountId, reference);
    const name = nameOf(accountId, doc);
    const shown = readVersion(store, name, version ?? doc.version);
    const content = readText(store, name, version ?? doc.version);
    if (shown === undefined || content === undefined) {
      const kept = versionsOf(store, name);
      const what = `version ${version} of this dev doc is not available; versions ${kept[0]?.version} to ${doc.version} are`;
      throw new Refusal({ kind: 'not_found', what });
    }
    return { doc, shown, content };
  }

  /** Documents in the trash, what was deleted last first; of the newest documents of an account, at most `limits.binScanMax`. */
  deleted(accountId: string): DevDocRecord[] {
    const rows = { prefix: [accountId], reverse: true, limit: limits.binScanMax };
    return this.#options.store
      .range(devDocs, rows)
      .flatMap(({ value }) => (value.deleted_at === null ? [] : [value]))
      .sort((a, b) => b.changed_ms - a.changed_ms);
  }

  /** Documents that changed last, deleted ones too, the newest change first. */
  recent(accountId: string, limit: number): DevDocRecord[] {
    const { store } = this.#options;
    const rows = { prefix: [accountId, changeScope(undefined)], reverse: true, limit };
    return store.range(devDocChanges, rows).flatMap(({ value: id }) => store.get(devDocs, [accountId, id]) ?? []);
  }

  /** Returns the stored versions of a document, newest first. */
  versions(accountId: string, doc: DevDocRecord): Version[] {
    return versionsOf(this.#options.store, nameOf(accountId, doc)).reverse();
  }

  /** Returns the changes. Their texts are read while they are sent. */
  pull(accountId: string, request: PullRequest): DocPull {
    return planPull(this.#options.store, accountId, request);
  }

  /**
   * Stores a new document. Throws Refusal `invalid_fields` when the title is a duplicate or the category is unknown;
   * `quota_exceeded` or `storage_reserved` when there is no room. `by`: who does it, here and below.
   */
  async create(accountId: string, given: NewDevDoc, by?: string): Promise<DevDocRecord> {
    const { actors, quotas, now } = this.#options;
    const title = cleanTitle(given.title);
    const category = foldCategory(given.category ?? 'docs');
    const names = { title, category, content_type: given.content_type ?? contentTypeOf(title) };
    const size = measure(given.content);
    return actors.account(accountId).ask((batch) => {
      const hint = '; or send create_category: true to create it';
      refuseFields({
        ...(given.create_category === true ? {} : categoryErrors(batch, accountId, category, hint)),
        ...titleErrors(batch, accountId, names),
      });
      quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { doc, head } = decideCreate(names, size, batch.get(devDocHeads, [accountId]), now(), by);
      batch.put(devDocHeads, [accountId], head);
      batch.put(devDocs, [accountId, doc.id], doc);
      putVersion(batch, nameOf(accountId, doc), doc.version, given.content, { at: doc.updated_at, by });
      moveDoc(batch, accountId, undefined, doc);
      moveGrams(batch, accountId, doc.id, undefined, signatureOf(doc, given.content));
      return doc;
    });
  }

  /** Replaces, extends or restores a document. Throws Refusal `not_found` or `stale_version`. */
  async update(accountId: string, write: DevDocWrite, by?: string): Promise<DevDocRecord> {
    const { content, mode = 'replace', expected_version: expected, restore = false, ...reference } = write;
    if (content === undefined && !restore) throw invalidField('content', 'content is required');
    const { actors, quotas, now } = this.#options;
    return actors.account(accountId).ask((batch) => {
      const doc = (restore ? findAny : findLive)(batch, accountId, reference);
      checkVersion(doc, expected);
      const isBinned = doc.deleted_at !== null;
      if (isBinned) refuseFields(titleErrors(batch, accountId, doc));
      const name = nameOf(accountId, doc);
      const current = keptText(batch, name, doc.version);
      const text = content === undefined ? current : joinText(mode, current, content);
      if (text === current && !isBinned) return doc;
      refuseFields(textErrors(text));
      const size = text === current ? undefined : measure(text);
      if (size !== undefined) quotas.check(batch, accountId, 'documents', textBytes(size.size_bytes));
      const { doc: next, head } = decideWrite(doc, size, batch.get(devDocHeads, [accountId]), now(), by);
      if (isBinned) takeFromBin(batch, doc.changed_ms, name);
      if (next.version !== doc.version) {
        putVersion(batch, name, next.version, text, { at: next.updated_at, by });
        dropVersion(batch, name, next.version - limits.devDocVersionsMax);
      }
      batch.put(devDocHeads, [accountId], head);
      batch.put(devDocs, [accountId, doc.id], next);
      moveDoc(batch, accountId, doc, next);
      const before = isBinned ? undefined : signatureOf(doc, current);
      moveGrams(batch, accountId, doc.id, before, signatureOf(next, text));
      return next;
    });
  }

  /** Moves a document to the trash, unless it is already there. Throws Refusal `not_found`. */
  async remove(accountId: string, reference: DocReference, by?: string): Promise<DevDocRecord> {
    const { actors, now } = this.#options;
    return actors.account(accountId).ask((batch) => {
      const doc = findAny(batch, accountId, reference);
      if (doc.deleted_at !== null) return doc;
      const name = nameOf(accountId, doc);
      const { doc: binned, head } = decideBin(doc, batch.get(devDocHeads, [accountId]), now(), by);
      batch.put(devDocHeads, [accountId], head);
      batch.put(devDocs, [accountId, doc.id], binned);
      putInBin(batch, binned.changed_ms, name);
      moveDoc(batch, accountId, doc, binned);
      moveGrams(batch, accountId, doc.id, signatureOf(doc, keptText(batch, name, doc.version)), undefined);
      return binned;
    });
  }
}

/** Removes every row of a document in the trash except its texts. */
export function forgetDoc(batch: Batch, accountId: string, id: number): void {
  const doc = batch.get(devDocs, [accountId, id]);
  if (doc === undefined) return;
  batch.remove(devDocs, [accountId, id]);
  moveDoc(batch, accountId, doc, undefined);
}

function nameOf(accountId: string, { id }: Pick<DevDocRecord, 'id'>): DocumentName {
  return { accountId, space: 'docs', id };
}

/** Returns the field errors of the title of a document that becomes live in its category. */
function titleErrors(batch: Batch, accountId: string, { title, category }: Pick<DevDocRecord, 'title' | 'category'>) {
  if (batch.get(devDocTitles, [accountId, foldTitle(title), 'live', category]) === undefined) return {};
  return { title: [`${category} already has a dev doc with this title; change it with update_dev_doc`] };
}
