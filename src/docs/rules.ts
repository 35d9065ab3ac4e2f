/** Pure decisions about dev docs: which names are taken, and what a write makes of what is there. */
import type { FieldErrors } from '../fault.ts';
import { limits } from '../limits.ts';
import type { ContentType, DevDocHead, DevDocRecord } from './records.ts';

/** How much a text is; see the versions. */
type TextSize = Pick<DevDocRecord, 'size_bytes' | 'json_bytes'>;

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

/** The next document of an account. */
export function decideCreate(
  names: Pick<DevDocRecord, 'title' | 'category' | 'content_type'>,
  size: TextSize,
  head: DevDocHead = NEW_HEAD,
  nowMs: number,
): { readonly doc: DevDocRecord; readonly head: DevDocHead } {
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

/** Now, and behind the change before it. */
function nextChange(head: DevDocHead, nowMs: number): number {
  return Math.max(nowMs, head.changed_ms + 1);
}
