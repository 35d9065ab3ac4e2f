/** The free label of an upload, from the header X-Uploaded-By. Pure. */
import { limits } from '../limits/service.ts';
import { decodeExtValue } from '../text/ext-value.ts';

export interface Label {
  /** Null without a label. */
  readonly text: string | null;
  readonly warning?: string;
}

const LOST =
  "X-Uploaded-By did not arrive whole, so no label was stored; send it in RFC 8187 form: UTF-8'' and the percent-encoded text";

/**
 * Reads a header as UTF-8, or as `UTF-8''…` (RFC 8187). The HTTP library drops bytes above 0x7F at either end, and
 * replaces bytes that are not UTF-8: where that shows, there is a warning instead of a label.
 */
export function readLabel(given: string): Label {
  if (given === '' || given.includes('\ufffd')) return { text: null, warning: LOST };
  return { text: decodeExtValue(given) ?? given };
}

/** At most `limits.uploadedByCharsMax` characters. */
export function isShort({ text }: Label): boolean {
  return text === null || Array.from(text).length <= limits.uploadedByCharsMax;
}

/** Without control characters and line separators. */
export function isOneLine({ text }: Label): boolean {
  return text === null || !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}
