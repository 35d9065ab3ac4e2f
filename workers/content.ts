/** Hashes, escapes and reads long contents off the main thread. */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { DigestedContent, Jobs, PreparedContent, RawContent } from '../src/pool/jobs.ts';
import { digestContent, prepareRawContent } from '../src/sync/contents/digest.ts';
import { wholeContent } from '../src/sync/log/stored-content.ts';

/** The escaped bytes are transferred to the caller, not copied. */
export function prepareContent(content: RawContent): PreparedContent {
  const prepared = prepareRawContent(content);
  if (!prepared.ok) return prepared;
  return move({
    [transferableSymbol]: [prepared.escaped.buffer],
    [valueSymbol]: prepared,
  } as never) as unknown as PreparedContent;
}

export function digestContents(contents: readonly RawContent[]): readonly DigestedContent[] {
  return contents.map(digestContent);
}

export function readStored({ version, escaped }: Jobs['readStored']['input']): Jobs['readStored']['output'] {
  return wholeContent(version, () => escaped);
}
