/** Pure decisions about dev docs: which names are taken, and what a write makes of what is there. */
import { type FieldErrors, Refusal, staleVersion } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { ContentType, DevDocHead, DevDocRecord } from './records.ts';

/** How much a text is; see the versions. */
type TextSize = Pick<DevDocRecord, 'size_bytes' | 'json_bytes'>;

export const MODES = ['replace', 'append', 'prepend'] as const;

export type Mode = (typeof MODES)[number];

interface Decided {
  readonly doc: DevDocRecord;
  readonly head: DevDocHead;
}

const NEW_HEAD: DevDocHead = { doc_id: 0, changed_ms: 0 };

/** A title as it is stored. */
export function cleanTitle(title: string): string {
  return title.trim().normalize('NFC');
}

/** The compared form of a title. */
export function foldTitle(title: string): string {
  return cleanTitle(title).toLowerCase();
}

/** A category as it is stored and compared. */
export function foldCategory(category: string): string {
  return category.trim().normalize('NFC').toLowerCase();
}

/** What is wrong with the names of a new document. */
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

/** A cleaned name that can be shown, and be part of a key. */
function isName(name: string, charsMax: number): boolean {
  return name !== '' && name.length <= charsMax && !/\p{Cc}|\p{Cs}|\u{10ffff}/u.test(name);
}

/** What a title's ending says of the content. */
export function contentTypeOf(title: string): ContentType {
  const ending = /\.([a-z0-9]+)$/i.exec(title)?.[1]?.toLowerCase() ?? '';
  if (['md', 'mdc', 'mdx', 'markdown'].includes(ending)) return 'markdown';
  if (['json', 'jsonc', 'json5'].includes(ending)) return 'json';
  return ['yaml', 'yml'].includes(ending) ? 'yaml' : 'text';
}

export function docNotFound(): Refusal {
  return new Refusal({ kind: 'not_found', what: 'dev doc not found; list_dev_docs lists all' });
}

/** What a write makes of a text; texts are joined as they are. */
export function joinText(mode: Mode, current: string, given: string): string {
  if (mode === 'append') return current + given;
  return mode === 'prepend' ? given + current : given;
}

/** Refuses a write that was made for another version. */
export function checkVersion(doc: DevDocRecord, expected: number | undefined): void {
  if (expected === undefined || expected === doc.version) return;
  throw staleVersion('dev doc', expected, doc.version);
}

/** The next document of an account. */
export function decideCreate(
  names: Pick<DevDocRecord, 'title' | 'category' | 'content_type'>,
  size: TextSize,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
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
  return { doc, head: { doc_id: doc.id, changed_ms: changedMs } };
}

/** A document is live with this text, which is its next version unless it is the same as before (`size` undefined). */
export function decideWrite(
  doc: DevDocRecord,
  size: TextSize | undefined,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
): Decided {
  const changedMs = nextChange(head, nowMs);
  const written = size && { ...size, version: doc.version + 1, updated_at: new Date(changedMs).toISOString() };
  return {
    doc: { ...doc, ...written, changed_ms: changedMs, deleted_at: null },
    head: { ...head, changed_ms: changedMs },
  };
}

export function decideBin(doc: DevDocRecord, head: DevDocHead = NEW_HEAD, nowMs: number): Decided {
  const changedMs = nextChange(head, nowMs);
  return {
    doc: { ...doc, changed_ms: changedMs, deleted_at: new Date(changedMs).toISOString() },
    head: { ...head, changed_ms: changedMs },
  };
}

/** Now, and after the change before it. */
function nextChange(head: DevDocHead, nowMs: number): number {
  return Math.max(nowMs, head.changed_ms + 1);
}
