/**
 * Merges and compares texts: small ones on the main thread, long ones in the pool. Texts above the limits are not
 * compared by lines, so the time of a call is bounded, and the main thread spends hardly any of it.
 */
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import { countLines } from '../../text/lines.ts';
import type { MergeInput, MergeOutput } from '../../text/merge.ts';
import { runMerge } from '../../text/merge.ts';
import { type DiffRequest, unifiedDiff } from '../../text/unified-diff.ts';

export class TextComparer {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Merges by lines. Texts without a base, or above the limits, become one conflict covering both whole texts.
   * Undefined when that conflict would be longer than a file may be.
   */
  async merge({ texts, options }: MergeInput, accountId: string): Promise<MergeOutput | undefined> {
    const { base, ours, theirs } = texts;
    const size = measure([ours, theirs, ...(base === undefined ? [] : [base])]);
    const input = { texts: { base: size.isTooLarge ? undefined : base, ours, theirs }, options };
    const isWhole = input.texts.base === undefined && options.favor === 'none';
    if (isWhole && Buffer.byteLength(ours) + Buffer.byteLength(theirs) > limits.fileBytesMax) return undefined;
    return size.isSmall ? runMerge(input) : this.#pool.run('merge', input, { accountId });
  }

  /** Returns the unified diff, or one sentence in its place for texts above the limits. */
  async diff(request: DiffRequest, accountId: string): Promise<string> {
    const { before, after, beforeName, afterName } = request;
    const size = measure([before, after]);
    if (size.isTooLarge) return `Files ${beforeName} and ${afterName} differ and are too large to compare by lines\n`;
    return size.isSmall ? unifiedDiff(request) : this.#pool.run('diff', request, { accountId });
  }
}

/** `isSmall`: small enough for the main thread. */
function measure(texts: readonly string[]): { readonly isTooLarge: boolean; readonly isSmall: boolean } {
  const bytes = texts.map((text) => Buffer.byteLength(text));
  const lines = texts.map((text) => countLines(text, limits.mergeLinesMax));
  return {
    isTooLarge:
      bytes.some((count) => count > limits.mergeBytesMax) || lines.some((count) => count > limits.mergeLinesMax),
    isSmall: sum(bytes) <= limits.mergeInlineBytesMax && sum(lines) <= limits.mergeInlineLinesMax,
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
