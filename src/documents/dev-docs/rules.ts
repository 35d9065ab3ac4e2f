/** Pure decisions about dev docs: the type of a new one, how texts are joined, and how a write changes a document. */
import type { Refusal } from '../../common/fault.ts';
import { changedBy } from '../../common/principal.ts';
import { recordInTrash, recordNotFound } from '../../fields/not-found.ts';
import { isFromTheFuture } from '../../time/truth.ts';
import { type ContentType, type DevDocRecord, declaredDoc } from './declared.ts';
import type { DevDocChange, NewDevDoc } from './fields.ts';
import type { DevDocHead } from './records.ts';

/** Size of a text; see texts.ts. */
type TextSize = Pick<DevDocRecord, 'size_bytes' | 'json_bytes'>;

export type Mode = NonNullable<DevDocChange['mode']>;

interface Decided {
  readonly doc: DevDocRecord;
  readonly head: DevDocHead;
}

const NEW_HEAD: DevDocHead = { doc_id: 0, changed_ms: 0 };

/** Derives the content type from the ending of a title. A title without one is prose, so Markdown. */
export function contentTypeOf(title: string): ContentType {
  const ending = /\.([a-z][a-z0-9]*)$/i.exec(title)?.[1]?.toLowerCase();
  if (ending === undefined) return 'markdown';
  if (['md', 'mdc', 'mdx', 'markdown'].includes(ending)) return 'markdown';
  if (['json', 'jsonc', 'json5'].includes(ending)) return 'json';
  return ['yaml', 'yml'].includes(ending) ? 'yaml' : 'text';
}

/** Returns the list scope of a category, a content type, both, or neither (all documents). */
export function listScope(category: string | undefined, contentType: ContentType | undefined): string {
  return `${contentType ?? '*'}:${changeScope(category)}`;
}

/** Returns the change scope of one category or of all documents. `=` keeps a category named `*` apart from all. */
export function changeScope(category: string | undefined): string {
  return category === undefined ? '*' : `=${category}`;
}

/** `isDeleted`: the document is in the trash. `guess`: the one that was probably meant. */
export function docNotFound(isDeleted = false, guess?: Pick<DevDocRecord, 'id' | 'title' | 'category'>): Refusal {
  const meant =
    guess === undefined ? '' : `; did you mean ${JSON.stringify(guess.title)} in ${guess.category}, id ${guess.id}?`;
  const what = `dev doc not found${meant}`;
  return isDeleted ? recordInTrash(what, 'update_dev_doc') : recordNotFound(what, 'list_dev_docs');
}

/** Applies a write to a text. Texts are joined without a separator. */
export function joinText(mode: Mode, current: string, given: string): string {
  if (mode === 'append') return current + given;
  return mode === 'prepend' ? given + current : given;
}

/** Returns the next document of an account and the new head. */
export function decideCreateDoc(
  fields: Omit<NewDevDoc, 'content'> & Pick<DevDocRecord, 'category' | 'content_type'>,
  size: TextSize,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
  by?: string,
): Decided {
  const changedMs = nextChange(head, nowMs);
  const at = timeOf(changedMs, nowMs);
  const id = head.doc_id + 1;
  const { category, content_type } = fields;
  const times = { created_at: at, updated_at: at, changed_ms: changedMs, deleted_at: null };
  const doc = declaredDoc.make(fields, { category, content_type, ...size, ...times, id, version: 1 });
  return { doc: changedBy(doc, by), head: { doc_id: id, changed_ms: changedMs } };
}

/** What a caller changes, besides the text and what names the document. */
type OtherFields = Pick<DevDocChange, 'content_type'>;

/**
 * Returns the live document with its new text, as the next version. The version stays the same if the text does (`size`
 * undefined).
 */
export function decideWrite(
  doc: DevDocRecord,
  size: TextSize | undefined,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
  by?: string,
  fields: OtherFields = {},
): Decided {
  const changedMs = nextChange(head, nowMs);
  const next = declaredDoc.change(doc, fields, size && { ...size, version: doc.version + 1 });
  const updatedAt = next === doc ? doc.updated_at : timeOf(changedMs, nowMs);
  return {
    doc: changedBy({ ...next, updated_at: updatedAt, changed_ms: changedMs, deleted_at: null }, by),
    head: { ...head, changed_ms: changedMs },
  };
}

/** Returns a live document under another title or in another category; its type follows its ending, as long as it did so. */
export function decideMove(
  doc: DevDocRecord,
  names: Pick<DevDocRecord, 'title' | 'category'>,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
  by?: string,
): Decided {
  const changedMs = nextChange(head, nowMs);
  const followed = doc.content_type === contentTypeOf(doc.title);
  const content_type = followed ? contentTypeOf(names.title) : doc.content_type;
  return {
    doc: changedBy({ ...doc, ...names, content_type, updated_at: timeOf(changedMs, nowMs), changed_ms: changedMs }, by),
    head: { ...head, changed_ms: changedMs },
  };
}

export function decideDocBin(doc: DevDocRecord, head: DevDocHead = NEW_HEAD, nowMs: number, by?: string): Decided {
  const changedMs = nextChange(head, nowMs);
  return {
    doc: changedBy({ ...doc, changed_ms: changedMs, deleted_at: timeOf(changedMs, nowMs) }, by),
    head: { ...head, changed_ms: changedMs },
  };
}

/** Returns the time of a change in ISO 8601: its place, unless a clock that was wrong moved the order into the future. */
function timeOf(changedMs: number, nowMs: number): string {
  return new Date(isFromTheFuture(changedMs, nowMs) ? nowMs : changedMs).toISOString();
}

/**
 * Returns the place of a change in the order of changes: the current time, or one millisecond after the previous change
 * if that is later. Cursors name places, so they never go back.
 */
function nextChange(head: DevDocHead, nowMs: number): number {
  return Math.max(nowMs, head.changed_ms + 1);
}
