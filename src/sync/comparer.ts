/**
 * Owns where texts are compared: small ones here, long ones in the pool, and such as are too large for a comparison by
 * lines not at all. So a call costs a bounded time, and the main thread hardly any of it.
 */
import { limits } from '../limits.ts';
import type { Pool } from '../pool/pool.ts';
import { countLines } from './lines.ts';
import { type MergedText, type MergeOptions, type MergeTexts, mergeTexts, mergeWhole, settle } from './merge.ts';
import { type DiffRequest, unifiedDiff } from './unified-diff.ts';

export class TextComparer {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Merges by lines; texts without a known ancestor (`base` undefined) or above the limits are one conflict as a whole. */
  async merge(texts: Omit<MergeTexts, 'base'> & { readonly base: string | undefined }, options: MergeOptions) {
    const { base, ours, theirs } = texts;
    if (base === undefined) return mergeWhole(texts, options);
    const settled = settle({ base, ours, theirs });
    if (settled !== undefined) return settled;
    return this.#run<MergedText>([base, ours, theirs], {
      tooLarge: () => mergeWhole(texts, options),
      here: () => mergeTexts({ base, ours, theirs }, options),
      inPool: () => this.#pool.run('merge', { texts: { base, ours, theirs }, options }),
    });
  }

  /** The unified diff; a sentence in its place above the limits. */
  diff(request: DiffRequest): Promise<string> {
    const { before, after, beforeName, afterName } = request;
    return this.#run<string>([before, after], {
      tooLarge: () =>
        before === after ? '' : `Files ${beforeName} and ${afterName} differ, and are too large to compare\n`,
      here: () => unifiedDiff(request),
      inPool: () => this.#pool.run('diff', { ...request }),
    });
  }

  async #run<T>(texts: readonly string[], ways: Ways<T>): Promise<T> {
    const bytes = texts.map((text) => Buffer.byteLength(text));
    if (bytes.some((count) => count > limits.mergeBytesMax)) return ways.tooLarge();
    const lines = texts.map((text) => countLines(text, limits.mergeLinesMax));
    if (lines.some((count) => count > limits.mergeLinesMax)) return ways.tooLarge();
    const isSmall = sum(bytes) <= limits.mergeInlineBytesMax && sum(lines) <= limits.mergeInlineLinesMax;
    return isSmall ? ways.here() : ways.inPool();
  }
}

interface Ways<T> {
  readonly tooLarge: () => T;
  readonly here: () => T;
  readonly inPool: () => Promise<T>;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
