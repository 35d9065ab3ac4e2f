/** Pure decisions about dev docs: which names are valid, and how a write changes a document. */
import type { FieldErrors, Refusal } from '../../common/fault.ts';
import { changedBy } from '../../common/principal.ts';
import { staleVersion } from '../../fields/expected-version.ts';
import { recordInTrash, recordNotFound } from '../../fields/not-found.ts';
import { limits } from '../../limits/service.ts';
import type { ContentType, DevDocHead, DevDocRecord } from './records.ts';

/** Size of a text; see texts.ts. */
type TextSize = Pick<DevDocRecord, 'size_bytes' | 'json_bytes'>;

export const MODES = ['replace', 'append', 'prepend'] as const;

export type Mode = (typeof MODES)[number];

interface Decided {
  readonly doc: DevDocRecord;
  readonly head: DevDocHead;
}

const NEW_HEAD: DevDocHead = { doc_id: 0, changed_ms: 0 };

/** Returns a title in its stored form. */
export function cleanTitle(title: string): string {
  return title.trim().normalize('NFC');
}

/** Returns a title in the form used for comparison. */
export function foldTitle(title: string): string {
  return cleanTitle(title).toLowerCase();
}

/** Returns a category in the form used for storage and comparison. */
export function foldCategory(category: string): string {
  return category.trim().normalize('NFC').toLowerCase();
}

/** Returns the field errors of the names of a new document. */
export function nameErrors(title: string, category: string): FieldErrors {
  return {
    ...(isName(title, limits.documentTitleCharsMax)
      ? {}
      : { title: [`title must have 1 to ${limits.documentTitleCharsMax} printable characters`] }),
    ...(isName(category, limits.devDocCategoryCharsMax)
      ? {}
      : { category: [`category must have 1 to ${limits.devDocCategoryCharsMax} printable characters`] }),
  };
}

/** True when a cleaned name can be displayed and can be part of a key. */
function isName(name: string, charsMax: number): boolean {
  return name !== '' && name.length <= charsMax && !/\p{Cc}|\p{Cs}|\u{10ffff}/u.test(name);
}

/** Derives the content type from the ending of a title. A title without one is prose, so Markdown. */
export function contentTypeOf(title: string): ContentType {
  const ending = /\.([a-z][a-z0-9]*)$/i.exec(title)?.[1]?.toLowerCase();
  if (ending === undefined) return 'markdown';
  if (['md', 'mdc', 'mdx', 'markdown'].includes(ending)) return 'markdown';
  if (['json', 'jsonc', 'json5'].includes(ending)) return 'json';
  return ['yaml', 'yml'].includes(ending) ? 'yaml' : 'text';
}

/** `isDeleted`: the document is in the trash. */
export function docNotFound(isDeleted = false): Refusal {
  const what = 'dev doc not found';
  return isDeleted ? recordInTrash(what, 'update_dev_doc') : recordNotFound(what, 'list_dev_docs');
}

/** Applies a write to a text. Texts are joined without a separator. */
export function joinText(mode: Mode, current: string, given: string): string {
  if (mode === 'append') return current + given;
  return mode === 'prepend' ? given + current : given;
}

/** Throws Refusal `stale_version` when the current version is not the expected one. */
export function checkVersion(doc: DevDocRecord, expected: number | undefined): void {
  if (expected === undefined || expected === doc.version) return;
  throw staleVersion('dev doc', expected, doc.version);
}

/** Returns the next document of an account and the new head. */
export function decideCreate(
  names: Pick<DevDocRecord, 'title' | 'category' | 'content_type'>,
  size: TextSize,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
  by?: string,
): Decided {
  const changedMs = nextChange(head, nowMs);
  const at = new Date(changedMs).toISOString();
  const doc: DevDocRecord = {
    id: head.doc_id + 1,
    ...names,
    version: 1,
    ...size,
    created_at: at,
    updated_at: at,
    changed_ms: changedMs,
    deleted_at: null,
  };
  return { doc: changedBy(doc, by), head: { doc_id: doc.id, changed_ms: changedMs } };
}

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
): Decided {
  const changedMs = nextChange(head, nowMs);
  const written = size && { ...size, version: doc.version + 1, updated_at: new Date(changedMs).toISOString() };
  return {
    doc: changedBy({ ...doc, ...written, changed_ms: changedMs, deleted_at: null }, by),
    head: { ...head, changed_ms: changedMs },
  };
}

export function decideBin(doc: DevDocRecord, head: DevDocHead = NEW_HEAD, nowMs: number, by?: string): Decided {
  const changedMs = nextChange(head, nowMs);
  return {
    doc: changedBy({ ...doc, changed_ms: changedMs, deleted_at: new Date(changedMs).toISOString() }, by),
    head: { ...head, changed_ms: changedMs },
  };
}

/** Returns the current time, or one millisecond after the previous change if that is later. */
function nextChange(head: DevDocHead, nowMs: number): number {
  return Math.max(nowMs, head.changed_ms + 1);
}
