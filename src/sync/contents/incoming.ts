/**
 * Owns the way of a content from a client to the disk: a small one is hashed where it is and travels with the decision; a
 * long one is hashed and escaped in the pool, and lies on the disk in pieces before anything is decided about it.
 */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { DigestedContent, RawContent } from '../../pool/jobs.ts';
import { LongContent } from '../../pool/long-content.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { decodeContent, type StoredContent } from '../log/version.ts';
import { digestContent } from './digest.ts';
import type { PieceStaging } from './staging.ts';

/** Content that is ready. Its bytes are asked for when they go into the row of a conflict; undefined: they are too many. */
export interface IncomingContent extends ReadyContent {
  bytes(): Uint8Array | undefined;
}

/** A content as it was sent, or as a job of the pool prepared it on its way here. */
export type SentContent = RawContent | LongContent;

/** A content as it was sent, and what it must agree with. */
export interface CheckedContent {
  readonly sent: SentContent;
  readonly check: ContentCheck;
}

/** What became of a content: adopted by a version or a conflict, or of no use. */
export interface Used {
  readonly adopted: boolean;
}

/** Refuses a content that is not what the client says it is. */
export type ContentCheck = (content: Pick<ReadyContent, 'sha256'>) => void;

interface ContentSources {
  readonly pool: Pool;
  readonly staging: PieceStaging;
}

export class Contents {
  readonly #sources: ContentSources;

  constructor(pool: Pool, staging: PieceStaging) {
    this.#sources = { pool, staging };
  }

  /**
   * Makes a content ready, holds it against `check`, and gives it to `use`. Refuses what is not content with
   * `invalid_fields`. What was staged and not adopted is removed again.
   */
  async use<T extends Used>(
    accountId: string,
    { sent, check }: CheckedContent,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    if (isSmall(sent)) return await use(smallContent(sent, digestContent(sent), check));
    return await this.#sources.staging.turn(accountId, () => this.#useLong(accountId, { sent, check }, use));
  }

  /** Within a decision: the content belongs to what the decision writes. */
  adopt(batch: Batch, content: ReadyContent | undefined): void {
    if (content?.stored.kind === 'pieces') this.#sources.staging.adopt(batch, content.stored.storageId);
  }

  async #useLong<T extends Used>(
    accountId: string,
    checked: CheckedContent,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    const content = await stageLong(this.#sources, accountId, checked);
    let adopted = false;
    try {
      const used = await use(content);
      adopted = used.adopted;
      return used;
    } finally {
      if (!adopted) await this.#sources.staging.discard(content.stored.storageId);
    }
  }
}

/** Whether a content is hashed where it is and travels with the decision. */
export function isSmall(sent: SentContent): sent is RawContent {
  return !(sent instanceof LongContent) && sent.text.length <= limits.inlineContentBytesMax;
}

/** A small content that is ready. Refuses with `invalid_fields`. */
export function smallContent(
  { text, encoding }: RawContent,
  digested: DigestedContent,
  check: ContentCheck,
): IncomingContent {
  if (!digested.ok) throw invalidField(digested.field, digested.sentence);
  check(digested);
  const { sizeBytes, sha256, gitSha } = digested;
  const stored = { kind: 'inline' as const, json: JSON.stringify(text) };
  return { sha256, gitSha, sizeBytes, encoding, stored, bytes: () => decodeContent(text, encoding) };
}

type Pieces = Extract<StoredContent, { kind: 'pieces' }>;

/** A long content that is hashed, in the pool unless it was before, and staged, within a turn of staging. Refuses with `invalid_fields`. */
export async function stageLong(
  { pool, staging }: ContentSources,
  accountId: string,
  { sent, check }: CheckedContent,
): Promise<IncomingContent & { readonly stored: Pieces }> {
  const { encoding } = sent;
  const prepared = sent instanceof LongContent ? sent.prepared : await pool.run('prepareContent', sent, { accountId });
  if (!prepared.ok) throw invalidField(prepared.field, prepared.sentence);
  const { sha256, gitSha, sizeBytes, escaped } = prepared;
  check(prepared);
  const storageId = await staging.stage(escaped);
  const stored = { kind: 'pieces' as const, storageId, escapedBytes: escaped.length };
  return { sha256, gitSha, sizeBytes, encoding, stored, bytes: () => undefined };
}
