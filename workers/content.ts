/** Hashes and escapes long contents off the main thread. */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { DigestedContent, PreparedContent, RawContent } from '../src/pool/jobs.ts';
import { digestContent, escapeContent } from '../src/sync/contents/digest.ts';

/** The escaped bytes are moved to the caller, not copied. */
export function prepareContent(content: RawContent): PreparedContent {
  const digested = digestContent(content);
  if (!digested.ok) return digested;
  const text = escapeContent(content.text);
  const escaped = new Uint8Array(Buffer.byteLength(text));
  Buffer.from(escaped.buffer).write(text);
  const prepared: PreparedContent = { ...digested, escaped };
  return move({
    [transferableSymbol]: [escaped.buffer],
    [valueSymbol]: prepared,
  } as never) as unknown as PreparedContent;
}

export function digestContents(contents: readonly RawContent[]): readonly DigestedContent[] {
  return contents.map(digestContent);
}
