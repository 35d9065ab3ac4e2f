/** What the services of all kinds of documents have in common. Every write runs in the account's actor. */

import { forgetChanges } from '../activity/note.ts';
import type { ActorRegistry } from '../actors/registry.ts';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Quotas } from '../quotas/quotas.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import type { DocumentKind, DocumentRecord, HeldDocument } from './kind.ts';
import { noteDocument } from './note.ts';
import { type DocumentName, keptText, readText, readVersion, type Version, versionsOf } from './texts.ts';
import { forgetDocument, putDocument } from './write.ts';

export interface DocumentServiceOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly quotas: Quotas;
  readonly now: () => number;
}

/** One version of a document with its text. */
export interface ReadDocument<R> {
  readonly record: R;
  readonly shown: Version;
  readonly content: string;
}

export abstract class DocumentService<
  R extends DocumentRecord,
  H,
  O extends DocumentServiceOptions = DocumentServiceOptions,
> {
  protected readonly kind: DocumentKind<R, H>;
  protected readonly options: O;

  constructor(kind: DocumentKind<R, H>, options: O) {
    this.kind = kind;
    this.options = options;
  }

  /** Returns a version of a document by its number. Throws Refusal `not_found`, also when the version is not stored. */
  abstract openById(accountId: string, id: number, version?: number): ReadDocument<R>;

  /** As `openById`, also of a document in the trash. Undefined: it is not stored. */
  stored(accountId: string, id: number, version?: number): ReadDocument<R> | undefined {
    const record = this.find(this.options.store, accountId, id);
    return record && this.open(accountId, record, version);
  }

  /** Returns the stored versions of a document, newest first. */
  versions(accountId: string, { id }: Pick<R, 'id'>): Version[] {
    return versionsOf(this.options.store, this.name(accountId, id)).reverse();
  }

  /** Documents in the trash, what was deleted last first; of the newest documents of an account, at most `limits.binScanMax`. */
  deleted(accountId: string): (R & { readonly deleted_at: string })[] {
    const rows = { prefix: [accountId], reverse: true, limit: limits.binScanMax };
    return this.options.store
      .range(this.kind.records, rows)
      .flatMap(({ value }) => (value.deleted_at == null ? [] : [{ ...value, deleted_at: value.deleted_at }]))
      .sort((a, b) => b.deleted_at.localeCompare(a.deleted_at));
  }

  /** Removes every row of a document except its texts and its place in the trash, as a part of a decision. */
  forget(batch: Batch, accountId: string, id: number): void {
    forgetDocument(this.kind, batch, accountId, id);
    forgetChanges(batch, accountId, this.kind.space, id);
  }

  protected name(accountId: string, id: number): DocumentName {
    return { accountId, space: this.kind.space, id };
  }

  protected find(reader: Pick<Reader, 'get'>, accountId: string, id: number): R | undefined {
    return reader.get(this.kind.records, [accountId, id]);
  }

  /** Returns a version of a document with its text, or undefined when it is not stored. */
  protected open(accountId: string, record: R, version = record.version): ReadDocument<R> | undefined {
    const name = this.name(accountId, record.id);
    const shown = readVersion(this.options.store, name, version);
    const content = readText(this.options.store, name, version);
    return shown === undefined || content === undefined ? undefined : { record, shown, content };
  }

  /** As `open`. Throws Refusal `not_found`, which names the versions that are stored. */
  protected openStored(accountId: string, record: R, version?: number): ReadDocument<R> {
    const found = this.open(accountId, record, version);
    if (found !== undefined) return found;
    const [oldest] = versionsOf(this.options.store, this.name(accountId, record.id));
    const what = `version ${version} of this ${this.kind.one} is not available; versions ${oldest?.version} to ${record.version} are`;
    throw new Refusal({ kind: 'not_found', what });
  }

  /** Returns a stored document with its current text, which must exist. */
  protected hold(reader: Pick<Reader, 'get'>, accountId: string, record: R): HeldDocument<R> {
    return { record, text: () => keptText(reader, this.name(accountId, record.id), record.version) };
  }

  /** Writes a decided change; see `putDocument`. `text`: undefined keeps the current one. */
  protected put(batch: Batch, accountId: string, before: R | undefined, after: R, text?: string, head?: H): R {
    const held = before && this.hold(batch, accountId, before);
    const textAfter = text === undefined ? (held?.text ?? (() => '')) : () => text;
    noteDocument(this.kind, batch, accountId, held, after, this.options.now());
    return putDocument(this.kind, batch, accountId, held, { record: after, text: textAfter }, head);
  }

  protected headOf(batch: Batch, accountId: string): H | undefined {
    return batch.get(this.kind.heads, [accountId]);
  }
}
