/** Hashes and escapes long contents off the main thread. */
import type { DigestedContent, PreparedContent, RawContent } from '../src/pool/jobs.ts';
import { digestContent, escapeContent } from '../src/sync/contents/digest.ts';

export function prepareContent(content: RawContent): PreparedContent {
  const digested = digestContent(content);
  if (!digested.ok) return digested;
  return { ...digested, escaped: Buffer.from(escapeContent(content.text)) };
}

export function digestContents(contents: readonly RawContent[]): readonly DigestedContent[] {
  return contents.map(digestContent);
}
