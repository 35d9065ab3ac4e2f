/** The use cases of dev docs. Every write goes through the account's actor; lists and pulls only read. */
import type { ActorRegistry } from '../actors/registry.ts';
import { refuseFields } from '../fault.ts';
import type { Store } from '../store/store.ts';
import { measure, putVersion, textErrors } from '../versions/texts.ts';
import { categoryErrors } from './categories.ts';
import { moveDoc } from './indexes.ts';
import { type DocPull, type PullRequest, planPull } from './pull.ts';
import { type ContentType, type DevDocRecord, devDocHeads, devDocs, devDocTitles } from './records.ts';
import { cleanTitle, contentTypeOf, decideCreate, foldCategory, foldTitle, nameErrors } from './rules.ts';

export interface DevDocsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly now: () => number;
}

export interface NewDevDoc {
  readonly title: string;
  readonly content: string;
  readonly category?: string | undefined;
  readonly content_type?: ContentType | undefined;
  /** Makes the category when there is none of that name. */
  readonly create_category?: boolean | undefined;
}

export class DevDocs {
  readonly #options: DevDocsOptions;

  constructor(options: DevDocsOptions) {
    this.#options = options;
  }

  /** Keeps a new document. Refuses a taken title, an unknown category and a text that is too long. */
  async create(accountId: string, given: NewDevDoc): Promise<DevDocRecord> {
    const { actors, now } = this.#options;
    const title = cleanTitle(given.title);
    const category = foldCategory(given.category ?? 'docs');
    refuseFields({ ...nameErrors(title, category), ...textErrors(given.content) });
    const names = { title, category, content_type: given.content_type ?? contentTypeOf(title) };
    const size = measure(given.content);
    return actors.actor(accountId).ask((batch) => {
      const hint = '; or send create_category: true to make it';
      refuseFields({
        ...(given.create_category === true ? {} : categoryErrors(batch, accountId, category, hint)),
        ...(batch.get(devDocTitles, [accountId, foldTitle(title), category]) === undefined
          ? {}
          : { title: [`${category} already has a dev doc of that title; change it with update_dev_doc`] }),
      });
      const { doc, head } = decideCreate(names, size, batch.get(devDocHeads, [accountId]), now());
      batch.put(devDocHeads, [accountId], head);
      batch.put(devDocs, [accountId, doc.id], doc);
      putVersion(batch, { accountId, space: 'docs', id: doc.id }, doc.version, given.content, doc.updated_at);
      moveDoc(batch, accountId, undefined, doc);
      return doc;
    });
  }

  /** What changed, with texts that are read while they are sent. */
  pull(accountId: string, request: PullRequest): DocPull {
    return planPull(this.#options.store, accountId, request, this.#options.now());
  }
}
