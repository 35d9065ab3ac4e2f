/**
 * Owns the way of a content from a client to the disk: a small one is hashed where it is and travels with the decision; a
 * long one is hashed and escaped in the pool, and lies on the disk in pieces before anything is decided about it.
 */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { RawContent } from '../../pool/jobs.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { ReadyContent } from '../log/change.ts';
import { decodeContent } from '../log/version.ts';
import { digestContent } from './digest.ts';
import type { PieceStaging } from './staging.ts';

/** Content that is ready. Its bytes are asked for when they go into the row of a conflict; undefined: they are too many. */
export interface IncomingContent extends ReadyContent {
  bytes(): Uint8Array | undefined;
}

/** What became of a content: adopted by a version or a conflict, or of no use. */
export interface Used {
  readonly adopted: boolean;
}

export class Contents {
  readonly #pool: Pool;
  readonly #staging: PieceStaging;

  constructor(pool: Pool, staging: PieceStaging) {
    this.#pool = pool;
    this.#staging = staging;
  }

  /**
   * Makes a content ready, holds it against `check`, and gives it to `use`. Refuses what is no content with
   * `invalid_fields`. What was staged and not adopted is removed again.
   */
  async use<T extends Used>(
    raw: RawContent,
    check: (content: Pick<ReadyContent, 'sha256'>) => void,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    if (raw.text.length <= limits.inlineContentBytesMax) {
      const content = smallContent(raw);
      check(content);
      return await use(content);
    }
    return await this.#staging.turn(() => this.#useLong(raw, check, use));
  }

  /** Within a decision: the content belongs to what the decision writes. */
  adopt(batch: Batch, content: ReadyContent | undefined): void {
    if (content?.stored.kind === 'pieces') this.#staging.adopt(batch, content.stored.storageId);
  }

  async #useLong<T extends Used>(
    { text, encoding }: RawContent,
    check: (content: Pick<ReadyContent, 'sha256'>) => void,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    const prepared = await this.#pool.run('prepareContent', { text, encoding });
    if (!prepared.ok) throw invalidField(prepared.field, prepared.sentence);
    const { sha256, gitSha, sizeBytes, escaped } = prepared;
    check(prepared);
    const storageId = await this.#staging.stage(escaped);
    let adopted = false;
    try {
      const stored = { kind: 'pieces' as const, storageId, escapedBytes: escaped.length };
      const used = await use({ sha256, gitSha, sizeBytes, encoding, stored, bytes: () => undefined });
      adopted = used.adopted;
      return used;
    } finally {
      if (!adopted) await this.#staging.discard(storageId);
    }
  }
}

function smallContent({ text, encoding }: RawContent): IncomingContent {
  const digested = digestContent({ text, encoding });
  if (!digested.ok) throw invalidField(digested.field, digested.sentence);
  const { sizeBytes, sha256, gitSha } = digested;
  const stored = { kind: 'inline' as const, json: JSON.stringify(text) };
  return { sha256, gitSha, sizeBytes, encoding, stored, bytes: () => decodeContent(text, encoding) };
}
