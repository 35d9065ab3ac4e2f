/** Adapts the three kinds of documents to one interface for the pages: list, read, write, delete. */
import { z } from 'zod';
import { invalidField, Refusal } from '../../common/fault.ts';
import { newPaper, paperChange } from '../../documents/papers/fields.ts';
import { documentText, type Version } from '../../documents/texts.ts';
import { printableName } from '../../fields/kinds.ts';
import { readFields } from '../../fields/read.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';

export type KindId = 'docs' | 'handoffs' | 'papers';
type Sources = Pick<Capabilities, 'docs' | 'handoffs' | 'papers'>;

export interface ListedDocument {
  readonly id: number;
  readonly title: string;
  /** Its category or project, or whether it is published. */
  readonly label: string;
  readonly preview?: string;
  /** When it was changed last, and by whom; in an open document, that of the shown version. */
  readonly at: string;
  readonly by?: string | undefined;
}

export interface DocumentList {
  readonly items: readonly ListedDocument[];
  /** Start of the next page; undefined: this was the last. */
  readonly cursor: string | undefined;
}

export type DocumentVersion = Omit<Version, 'json_bytes'>;

export interface OpenDocument extends ListedDocument {
  readonly content: string;
  /** Format for rendering: `markdown`, or a language. */
  readonly format: string;
  /** The current version, and the one shown. */
  readonly version: number;
  readonly shown: number;
  /** Newest first. */
  readonly versions: readonly DocumentVersion[];
  /** Only for papers. */
  readonly published?: boolean;
}

/** The fields of a form. */
export interface WrittenDocument {
  readonly title: string;
  /** Category of a dev doc, or project of a handoff. */
  readonly group: string;
  readonly content: string;
}

export interface ListQuery {
  readonly search: string;
  readonly group: string;
  readonly cursor: string | undefined;
}

export interface Kind {
  readonly id: KindId;
  readonly name: string;
  readonly one: string;
  readonly titleLabel: string;
  /** Label of `group` in a form; undefined: this kind has no group. */
  readonly groupLabel: string | undefined;
  list(accountId: string, query: ListQuery): Promise<DocumentList>;
  /** Throws Refusal `not_found`. */
  open(accountId: string, id: number, version?: number): OpenDocument;
  /** `by`: who does it, here and below. */
  create(accountId: string, written: WrittenDocument, by: string): Promise<number>;
  /** Throws Refusal `stale_version` when the current version is not `expected`. */
  save(accountId: string, id: number, written: WrittenDocument, expected: number, by: string): Promise<void>;
  /** Undefined: this kind cannot be deleted on a page. */
  readonly remove: ((accountId: string, id: number, by: string) => Promise<void>) | undefined;
  restore(accountId: string, id: number, by: string): Promise<void>;
}

/** Input of a person is validated like input of an agent. */
const devDocFields = z.strictObject({
  title: printableName(limits.documentTitleCharsMax),
  category: printableName(limits.devDocCategoryCharsMax),
  content: documentText,
});
const handoffFields = z.strictObject({
  project: printableName(limits.handoffNameCharsMax),
  topic: printableName(limits.handoffNameCharsMax),
  content: documentText.min(1),
});
const textField = z.strictObject({ content: documentText });

/** All kinds in display order. */
export function kindsOf(sources: Sources): readonly Kind[] {
  return [devDocs(sources), handoffs(sources), papers(sources)];
}

function devDocs({ docs }: Sources): Kind {
  return {
    id: 'docs',
    name: 'Dev docs',
    one: 'dev doc',
    titleLabel: 'Title',
    groupLabel: 'Category',
    async list(accountId, { search, group, cursor }) {
      const only = group === '' ? {} : { category: group };
      const query = { ...only, search, cursor, limit: limits.documentRowsPerPage };
      const found = await docs.list(accountId, query);
      const items = found.docs.map(({ id, title, category: label, updated_at: at, changed_by: by }) => {
        return { id, title, label, at, by };
      });
      return { items, cursor: found.cursor };
    },
    open(accountId, id, version) {
      const { doc, shown, content } = docs.get(accountId, { id, version });
      const { title, category: label, content_type: format } = doc;
      const versions = docs.versions(accountId, doc);
      return { id, title, label, content, format, version: doc.version, ...shownOf(shown), versions };
    },
    async create(accountId, { title, group: category, content }, by) {
      const fields = readFields(devDocFields, { title, category, content });
      // A file extension in the title determines the type; without one, text written on a page is Markdown.
      const type = /\.\w+$/.test(title) ? {} : { content_type: 'markdown' as const };
      const made = await docs.create(accountId, { ...fields, ...type, create_category: true }, by);
      return made.id;
    },
    async save(accountId, id, { content: given }, expected, by) {
      const { content } = readFields(textField, { content: given });
      await docs.update(accountId, { id, content, expected_version: expected }, by);
    },
    async remove(accountId, id, by) {
      await docs.remove(accountId, { id }, by);
    },
    async restore(accountId, id, by) {
      await docs.update(accountId, { id, restore: true }, by);
    },
  };
}

function handoffs({ handoffs: notes }: Sources): Kind {
  return {
    id: 'handoffs',
    name: 'Handoffs',
    one: 'handoff',
    titleLabel: 'Topic',
    groupLabel: 'Project',
    async list(accountId, { group, cursor }) {
      // Without a project: the newest handoff of each project.
      const page = { cursor, limit: limits.documentRowsPerPage };
      const found =
        group === '' ? notes.newestOfEach(accountId, page) : notes.page(accountId, { project: group, ...page });
      const items = found.handoffs.map(({ id, project, topic, preview, updated_at: at, changed_by: by }) => {
        return { id, title: topic, label: project, preview, at, by };
      });
      return { items, cursor: found.cursor };
    },
    open(accountId, id, version) {
      const { handoff, shown, content } = notes.read(accountId, id, version);
      const { topic: title, project: label } = handoff;
      const versions = notes.versions(accountId, handoff);
      return { id, title, label, content, format: 'markdown', version: handoff.version, ...shownOf(shown), versions };
    },
    async create(accountId, { title: topic, group: project, content }, by) {
      const fields = readFields(handoffFields, { project, topic, content });
      return (await notes.save(accountId, { ...fields, expected_version: 0 }, by)).id;
    },
    async save(accountId, id, { content: given }, expected, by) {
      const { content } = readFields(textField, { content: given });
      const { project, topic, date, time } = notes.read(accountId, id).handoff;
      const name = { project, topic, date, ...(time === null ? {} : { time }) };
      await notes.save(accountId, { ...name, content, expected_version: expected }, by);
    },
    remove: undefined,
    restore() {
      throw new Refusal({ kind: 'not_found', what: 'handoffs cannot be deleted' });
    },
  };
}

function papers({ papers: all }: Sources): Kind {
  return {
    id: 'papers',
    name: 'Papers',
    one: 'paper',
    titleLabel: 'Title',
    groupLabel: undefined,
    list(accountId, { group, cursor }) {
      const only = group === '' ? {} : { published: group === 'published' };
      const place = cursor === undefined ? {} : { cursor: readPlace(cursor) };
      const query = { include_content: false, limit: limits.documentRowsPerPage, ...only, ...place };
      const found = all.list(accountId, query);
      const items = found.papers.map(({ paper: { id, title, published, updated_at: at, changed_by: by } }) => {
        return { id, title, label: published ? 'Published' : 'Draft', at, by };
      });
      return Promise.resolve({ items, cursor: found.cursor });
    },
    open(accountId, id) {
      const { paper, content = '' } = all.get(accountId, id);
      const { title, published, version, updated_at: at, size_bytes, changed_by: by } = paper;
      const versions = [{ version, size_bytes, created_at: at }];
      const label = published ? 'Published' : 'Draft';
      return { id, title, label, at, by, content, format: 'markdown', version, shown: version, versions, published };
    },
    async create(accountId, { title, content }, by) {
      return (await all.create(accountId, all.read(accountId, newPaper, { title, content }), by)).paper.id;
    },
    async save(accountId, id, { title, content }, expected, by) {
      const known = all.existing(accountId, id);
      const fields = all.read(accountId, paperChange, { title, content, expected_version: expected });
      await all.patch(accountId, known, fields, by);
    },
    async remove(accountId, id, by) {
      await all.remove(accountId, id, by);
    },
    async restore(accountId, id, by) {
      await all.patch(accountId, id, { restore: true }, by);
    },
  };
}

/** Number, time and author of the shown version. */
function shownOf({ version: shown, created_at: at, changed_by: by }: Version) {
  return { shown, at, by };
}

function readPlace(cursor: string): number {
  if (!/^[1-9]\d{0,14}$/.test(cursor))
    throw invalidField('cursor', 'cursor must come from an earlier page of this list');
  return Number(cursor);
}
