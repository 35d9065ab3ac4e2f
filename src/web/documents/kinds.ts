/** Tells the pages about the three kinds of documents: their words, how each is listed, read, written and deleted. */
import { invalidField } from '../../common/fault.ts';
import { type DevDocRecord, otherDocInputs } from '../../documents/dev-docs/declared.ts';
import { devDocChange, newDevDoc } from '../../documents/dev-docs/fields.ts';
import { type HandoffRecord, otherHandoffInputs } from '../../documents/handoffs/declared.ts';
import { newHandoff } from '../../documents/handoffs/fields.ts';
import type { DocumentRecord } from '../../documents/kind.ts';
import { otherPaperInputs, type PaperRecord } from '../../documents/papers/declared.ts';
import { newPaper, paperChange } from '../../documents/papers/fields.ts';
import type { DocumentService } from '../../documents/service.ts';
import { documentText, type Version } from '../../documents/texts.ts';
import { readFields } from '../../fields/read.ts';
import type { CallerInput } from '../../fields/record.ts';
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
  readonly record: object;
}

/** The fields of a form. */
export interface WrittenDocument {
  readonly title: string;
  /** Category of a dev doc, or project of a handoff. */
  readonly group: string;
  readonly content: string;
  /** The fields without a control of their own. */
  readonly others: Readonly<Record<string, unknown>>;
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
  /** Fields without a control of their own. */
  readonly inputs: readonly CallerInput[];
  list(accountId: string, query: ListQuery): Promise<DocumentList>;
  /** Throws Refusal `not_found`. */
  open(accountId: string, id: number, version?: number): OpenDocument;
  /** `by`: who does it, here and below. */
  create(accountId: string, written: WrittenDocument, by: string): Promise<number>;
  /** Throws Refusal `stale_version` when the current version is not `expected`. */
  save(accountId: string, id: number, written: WrittenDocument, expected: number, by: string): Promise<unknown>;
  /** Undefined: this kind cannot be deleted on a page. */
  readonly bin?: {
    remove(accountId: string, id: number, by: string): Promise<unknown>;
    restore(accountId: string, id: number, by: string): Promise<unknown>;
  };
}

/** What the pages need to know of a kind. */
interface PageKind<R extends DocumentRecord> extends Omit<Kind, 'list' | 'open'> {
  readonly service: Pick<DocumentService<R, unknown>, 'openById' | 'versions'>;
  readonly list: (
    accountId: string,
    query: ListQuery,
  ) => Promise<{ readonly records: readonly R[]; readonly cursor: string | undefined }>;
  readonly facts: (record: R) => Pick<OpenDocument, 'title' | 'label'> & Partial<OpenDocument>;
}

function pageKind<R extends DocumentRecord>({ service, list, facts, ...kind }: PageKind<R>): Kind {
  return {
    ...kind,
    async list(accountId, query) {
      const { records, cursor } = await list(accountId, query);
      const items = records.map((record) => {
        const { id, updated_at: at, changed_by: by } = record;
        return { id, at, by, ...facts(record) };
      });
      return { items, cursor };
    },
    open(accountId, id, version) {
      const { record, shown, content } = service.openById(accountId, id, version);
      const versions = service.versions(accountId, record);
      const { version: number, created_at: at, changed_by: by } = shown;
      const text = { content, format: 'markdown', version: record.version, shown: number, versions, at, by };
      return { id, ...text, ...facts(record), record };
    },
  };
}

/** All kinds in display order. */
export function kindsOf({ docs, handoffs, papers }: Sources): readonly Kind[] {
  return [pageKind(devDocs(docs)), pageKind(handoffNotes(handoffs)), pageKind(paperTexts(papers))];
}

function devDocs(docs: Sources['docs']): PageKind<DevDocRecord> {
  return {
    id: 'docs',
    name: 'Dev docs',
    one: 'dev doc',
    titleLabel: 'Title',
    groupLabel: 'Category',
    inputs: otherDocInputs,
    service: docs,
    facts: ({ title, category: label, content_type: format }) => ({ title, label, format }),
    async list(accountId, { search, group, cursor }) {
      const only = group === '' ? {} : { category: group };
      const query = { ...only, search, cursor, limit: limits.documentRowsPerPage };
      const found = await docs.list(accountId, query);
      return { records: found.docs, cursor: found.cursor };
    },
    async create(accountId, { title, group: category, content, others }, by) {
      const fields = readFields(newDevDoc, { title, category, content, ...others });
      // A file extension in the title determines the type; without one, text written on a page is Markdown.
      const type = /\.\w+$/.test(title) ? {} : { content_type: 'markdown' as const };
      const made = await docs.create(accountId, { ...fields, ...type, create_category: true }, by);
      return made.id;
    },
    async save(accountId, id, { content, others }, expected, by) {
      const fields = readFields(devDocChange, { content, ...others });
      await docs.update(accountId, { ...fields, id, expected_version: expected }, by);
    },
    bin: {
      remove: (accountId, id, by) => docs.remove(accountId, { id }, by),
      restore: (accountId, id, by) => docs.update(accountId, { id, restore: true }, by),
    },
  };
}

/** The name of a handoff stays, and its text may become empty. */
const handoffChange = newHandoff
  .omit({ project: true, topic: true, date: true, time: true })
  .extend({ content: documentText });

function handoffNotes(notes: Sources['handoffs']): PageKind<HandoffRecord> {
  return {
    id: 'handoffs',
    name: 'Handoffs',
    one: 'handoff',
    titleLabel: 'Topic',
    groupLabel: 'Project',
    inputs: otherHandoffInputs,
    service: notes,
    facts: ({ topic: title, project: label, preview }) => ({ title, label, preview }),
    list(accountId, { group, cursor }) {
      // Without a project: the newest handoff of each project.
      const page = { cursor, limit: limits.documentRowsPerPage };
      const found =
        group === '' ? notes.newestOfEach(accountId, page) : notes.page(accountId, { project: group, ...page });
      return Promise.resolve({ records: found.handoffs, cursor: found.cursor });
    },
    async create(accountId, { title: topic, group: project, content, others }, by) {
      const fields = readFields(newHandoff, { project, topic, content, ...others });
      return (await notes.save(accountId, { ...fields, expected_version: 0 }, by)).id;
    },
    async save(accountId, id, { content, others }, expected, by) {
      const fields = readFields(handoffChange, { content, ...others });
      const { project, topic, date, time } = notes.openById(accountId, id).record;
      const name = { project, topic, date, ...(time === null ? {} : { time }) };
      await notes.save(accountId, { ...fields, ...name, expected_version: expected }, by);
    },
  };
}

function paperTexts(papers: Sources['papers']): PageKind<PaperRecord> {
  return {
    id: 'papers',
    name: 'Papers',
    one: 'paper',
    titleLabel: 'Title',
    groupLabel: undefined,
    inputs: otherPaperInputs,
    service: papers,
    facts: ({ title, published, updated_at: at, changed_by: by }) => {
      return { title, label: published ? 'Published' : 'Draft', at, by, published };
    },
    list(accountId, { group, cursor }) {
      const only = group === '' ? {} : { published: group === 'published' };
      const place = cursor === undefined ? {} : { cursor: readPlace(cursor) };
      const query = { include_content: false, limit: limits.documentRowsPerPage, ...only, ...place };
      const found = papers.list(accountId, query);
      return Promise.resolve({ records: found.papers.map(({ paper }) => paper), cursor: found.cursor });
    },
    async create(accountId, { title, content, others }, by) {
      const fields = papers.read(accountId, newPaper, { title, content, ...others });
      return (await papers.create(accountId, fields, by)).paper.id;
    },
    async save(accountId, id, { title, content, others }, expected, by) {
      const known = papers.existing(accountId, id);
      const given = { title, content, ...others, expected_version: expected };
      await papers.patch(accountId, known, papers.read(accountId, paperChange, given), by);
    },
    bin: {
      remove: (accountId, id, by) => papers.remove(accountId, id, by),
      restore: (accountId, id, by) => papers.patch(accountId, id, { restore: true }, by),
    },
  };
}

function readPlace(cursor: string): number {
  if (!/^[1-9]\d{0,14}$/.test(cursor))
    throw invalidField('cursor', 'cursor must come from an earlier page of this list');
  return Number(cursor);
}
