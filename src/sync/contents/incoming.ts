/**
 * Prepares content sent by a client and stores it. Small content is hashed on the main thread and written with the
 * decision. Long content is hashed and escaped in the pool, and is on disk in pieces before the decision.
 */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { DigestedContent, RawContent } from '../../pool/jobs.ts';
import { LongContent } from '../../pool/long-content.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import { type Chunk, formatChunkList } from '../../text/chunk-list.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { decodeContent, type StoredContent } from '../log/version.ts';
import type { ChunkStore } from './chunk-store.ts';
import { digestContent } from './digest.ts';
import type { PieceStaging } from './staging.ts';

/**
 * Content ready to be stored. `bytes` decodes it for the row of a conflict; undefined when it is too long for a row.
 */
export interface IncomingContent extends ReadyContent {
  bytes(): Uint8Array | undefined;
}

/** Content as the client sent it, or as a job of the pool already prepared it. */
export type SentContent = RawContent | LongContent;

export interface CheckedContent {
  readonly sent: SentContent;
  readonly check: ContentCheck;
}

/** Whether a content was adopted by a version or a conflict. If not, its pieces are removed. */
export interface Used {
  readonly adopted: boolean;
}

/** Throws Refusal when a content does not match what the client claims about it. */
export type ContentCheck = (content: Pick<ReadyContent, 'sha256'>) => void;

/** The list of the chunks of a large file, as the client sent it. */
export interface SentChunks {
  readonly list: readonly Chunk[];
  readonly check: ContentCheck;
}

interface ContentSources {
  readonly pool: Pool;
  readonly staging: PieceStaging;
}

interface VaultOfContent {
  readonly accountId: string;
  readonly vaultId: string;
}

export class Contents {
  readonly #sources: ContentSources;
  readonly #chunks: Pick<ChunkStore, 'digest' | 'refuseDamaged'>;

  constructor(pool: Pool, staging: PieceStaging, chunks: Pick<ChunkStore, 'digest' | 'refuseDamaged'>) {
    this.#sources = { pool, staging };
    this.#chunks = chunks;
  }

  /**
   * Prepares a content, runs `check` on it, and passes it to `use`. Removes staged pieces that were not adopted. Throws
   * Refusal `invalid_fields` when the content is invalid.
   */
  use<T extends Used>(
    accountId: string,
    { sent, check }: CheckedContent,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    if (isSmall(sent)) return use(smallContent(sent, digestContent(sent), check));
    return this.#sources.staging.turn(accountId, () => this.#useLong(accountId, { sent, check }, use));
  }

  /**
   * Like `use`, for a large file whose chunks are on the hub: the whole file is hashed, and its list staged. Throws Refusal
   * `invalid_fields` for a list that makes no large file of this vault, or another one than the client says.
   */
  async useChunks<T extends Used>(
    { accountId, vaultId }: VaultOfContent,
    { list, check }: SentChunks,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    const { staging } = this.#sources;
    return await staging.turn(accountId, async () => {
      const digest = await this.#chunks.digest(accountId, vaultId, list);
      try {
        check(digest);
      } catch (error) {
        await this.#chunks.refuseDamaged({ accountId, vaultId }, list);
        throw error;
      }
      const text = Buffer.from(formatChunkList(list));
      const stored = { kind: 'pieces', storageId: await staging.stage(text), escapedBytes: text.length } as const;
      const content = { ...digest, encoding: 'chunks', stored, bytes: () => undefined } as const;
      return await this.#adopting(content, async () => {
        await staging.lists.hold({ accountId, vaultId }, stored.storageId, list);
        return await use(content);
      });
    });
  }

  /** Within a decision: assigns staged pieces to the rows written by the decision. */
  adopt(batch: Batch, content: ReadyContent | undefined): void {
    if (content?.stored.kind === 'pieces') this.#sources.staging.adopt(batch, content.stored.storageId);
  }

  async #useLong<T extends Used>(
    accountId: string,
    checked: CheckedContent,
    use: (content: IncomingContent) => Promise<T>,
  ): Promise<T> {
    return await this.#adopting(await stageLong(this.#sources, accountId, checked), use);
  }

  async #adopting<T extends Used>(content: StagedContent, use: (content: IncomingContent) => Promise<T>): Promise<T> {
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

/** True when a content is hashed on the main thread and written with the decision. */
export function isSmall(sent: SentContent): sent is RawContent {
  return !(sent instanceof LongContent) && sent.text.length <= limits.inlineContentBytesMax;
}

/** Prepares a small content. Throws Refusal `invalid_fields` when it is invalid. */
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
type StagedContent = IncomingContent & { readonly stored: Pieces };

/**
 * Prepares and stages a long content, hashed in the pool unless it already was. Requires a turn of staging. Throws
 * Refusal `invalid_fields` when the content is invalid.
 */
export async function stageLong(
  { pool, staging }: ContentSources,
  accountId: string,
  { sent, check }: CheckedContent,
): Promise<StagedContent> {
  const { encoding } = sent;
  const prepared = sent instanceof LongContent ? sent.prepared : await pool.run('prepareContent', sent, { accountId });
  if (!prepared.ok) throw invalidField(prepared.field, prepared.sentence);
  const { sha256, gitSha, sizeBytes, escaped } = prepared;
  check(prepared);
  const storageId = await staging.stage(escaped);
  const stored = { kind: 'pieces' as const, storageId, escapedBytes: escaped.length };
  return { sha256, gitSha, sizeBytes, encoding, stored, bytes: () => undefined };
}
