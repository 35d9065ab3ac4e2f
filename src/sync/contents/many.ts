/**
 * Prepares the contents of many files at once. All small ones are hashed in one job of the pool, and all long ones
 * share one turn of staging. This bounds memory, because the total bytes of a call are limited.
 */
import { type Attempt, attempt } from '../../common/attempt.ts';
import { limits } from '../../limits/service.ts';
import type { DigestedContent, RawContent } from '../../pool/jobs.ts';
import type { Pool } from '../../pool/pool.ts';
import { digestContent } from './digest.ts';
import { type CheckedContent, type IncomingContent, isSmall, smallContent, stageLong, type Used } from './incoming.ts';
import type { PieceStaging } from './staging.ts';

/** A prepared content, or the fault that rejected it. The content is undefined for a file without one. */
export type Prepared = Attempt<IncomingContent | undefined>;

export class ManyContents {
  readonly #pool: Pool;
  readonly #staging: PieceStaging;

  constructor(pool: Pool, staging: PieceStaging) {
    this.#pool = pool;
    this.#staging = staging;
  }

  /**
   * Prepares contents and passes all of them to `use`, in the same order; undefined for a file without content. Removes
   * staged pieces that were not adopted.
   */
  async use<T extends Used>(
    accountId: string,
    files: readonly (CheckedContent | undefined)[],
    use: (contents: readonly Prepared[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const isLong = files.some((file) => file !== undefined && !isSmall(file.sent));
    return isLong
      ? await this.#staging.turn(accountId, () => this.#use(accountId, files, use))
      : await this.#use(accountId, files, use);
  }

  async #use<T extends Used>(
    accountId: string,
    files: readonly (CheckedContent | undefined)[],
    use: (contents: readonly Prepared[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const settled = await this.#prepare(accountId, files);
    let used: readonly T[] = [];
    try {
      used = await use(settled.map(prepared));
      return used;
    } finally {
      for (const [index, made] of settled.entries()) {
        const stored = made.status === 'fulfilled' && made.value.ok ? made.value.value?.stored : undefined;
        if (stored?.kind === 'pieces' && used[index]?.adopted !== true) await this.#staging.discard(stored.storageId);
      }
    }
  }

  /** Waits for all of them, so that the pieces staged by one can be removed when another fails. */
  async #prepare(
    accountId: string,
    files: readonly (CheckedContent | undefined)[],
  ): Promise<readonly PromiseSettledResult<Prepared>[]> {
    const digests = await this.#digest(
      accountId,
      files.flatMap((file) => (file && isSmall(file.sent) ? [file.sent] : [])),
    );
    let next = 0;
    return await Promise.allSettled(
      files.map((file): Promise<Prepared> => {
        if (file === undefined) return attempt(() => undefined);
        const { sent, check } = file;
        if (!isSmall(sent))
          return attempt(() => stageLong({ pool: this.#pool, staging: this.#staging }, accountId, file));
        const digested = digests[next] as DigestedContent;
        next += 1;
        return attempt(() => smallContent(sent, digested, check));
      }),
    );
  }

  async #digest(accountId: string, raws: readonly RawContent[]): Promise<readonly DigestedContent[]> {
    const chars = raws.reduce((sum, { text }) => sum + text.length, 0);
    return chars <= limits.inlineContentBytesMax
      ? raws.map(digestContent)
      : await this.#pool.run('digestContents', raws, { accountId });
  }
}

function prepared(settled: PromiseSettledResult<Prepared>): Prepared {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}
