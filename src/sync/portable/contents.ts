/**
 * Prepares the contents of an import: hashes each, compares it with its line, and stages a long one on disk once,
 * however many versions share it. Contents stay staged until the account is created.
 */
import type { ArchiveReader } from '../../archive/reader.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import { isChunked } from '../../limits/large-file.ts';
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { bytesOfChunks } from '../../text/chunk-list.ts';
import { digestContent } from '../contents/digest.ts';
import type { PieceStaging } from '../contents/staging.ts';
import { readChunkList } from '../log/large-content.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { pieceShares } from '../log/records.ts';
import type { Encoding, WholeEncoding } from '../log/version.ts';
import { ImportedChunks } from './chunks.ts';

export interface ContentLine {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
  readonly encoding: Encoding;
  readonly content: string | undefined;
  readonly isInBlobs: boolean;
}

/** A line whose content is whole. */
type WholeLine = ContentLine & { readonly encoding: WholeEncoding };

export interface PortableContentsOptions {
  readonly archive: ArchiveReader;
  readonly store: Store;
  readonly pool: Pool;
  readonly staging: PieceStaging;
  readonly accountId: string;
}

interface Staged {
  readonly content: ReadyContent;
  readonly storageId: number;
  holders: number;
}

export class PortableContents {
  readonly #options: PortableContentsOptions;
  /** Long contents by hash and encoding. */
  readonly #staged = new Map<string, Staged>();
  /** Chunks by vault: each vault has its own. */
  readonly #chunks = new Map<string, ImportedChunks>();

  constructor(options: PortableContentsOptions) {
    this.#options = options;
  }

  /** Prepares a content for the log. Throws Refusal `storage_full`, or `invalid_fields` if it differs from its line. */
  async ready(vaultId: string, line: ContentLine): Promise<ReadyContent> {
    const { encoding } = line;
    return encoding === 'chunks'
      ? await this.#readyChunks(vaultId, line)
      : await this.#readyWhole({ ...line, encoding });
  }

  /** The chunks of a vault, with those of all contents prepared until now. */
  chunksOf(vaultId: string): ImportedChunks {
    const known = this.#chunks.get(vaultId) ?? new ImportedChunks(this.#options);
    this.#chunks.set(vaultId, known);
    return known;
  }

  async #readyChunks(vaultId: string, line: ContentLine): Promise<ReadyContent> {
    const text = line.content ?? '';
    const list = readChunkList(text);
    if (list === undefined || line.isInBlobs || !isChunked(bytesOfChunks(list))) {
      throw invalidField('content', 'content is not the list of the chunks of a large file');
    }
    const name = `${vaultId} ${line.sha256} ${text}`;
    const known = this.#staged.get(name);
    if (known !== undefined) {
      known.holders += 1;
      return known.content;
    }
    check(line, await this.chunksOf(vaultId).hold(list, Date.now()));
    const bytes = Buffer.from(text);
    const storageId = await this.#options.staging.stage(bytes);
    const content = readyOf(line, { kind: 'pieces', storageId, escapedBytes: bytes.length });
    this.#staged.set(name, { content, storageId, holders: 1 });
    return content;
  }

  async #readyWhole(line: WholeLine): Promise<ReadyContent> {
    if ((line.content === undefined) !== line.isInBlobs) {
      throw invalidField('content', 'content must be in the line or in the contents, not in both');
    }
    const name = `${line.sha256} ${line.encoding}`;
    const known = line.isInBlobs ? this.#staged.get(name) : undefined;
    if (known !== undefined) {
      check(line, known.content);
      known.holders += 1;
      return known.content;
    }
    const text = line.content ?? (await this.#read(line));
    if (text.length > limits.inlineContentBytesMax) return await this.#stage(name, line, text);
    const digested = digestContent({ text, encoding: line.encoding });
    if (!digested.ok) throw invalidField(digested.field, digested.sentence);
    check(line, digested);
    return readyOf(line, { kind: 'inline', json: JSON.stringify(text) });
  }

  /** Adopts the staged contents, within the decision that creates the account. */
  publish(batch: Batch): void {
    for (const { storageId, holders } of this.#staged.values()) {
      this.#options.staging.adopt(batch, storageId);
      if (holders > 1) batch.put(pieceShares, [storageId], { holders });
    }
    for (const of of this.#chunks.values()) of.publish(batch);
  }

  async discard(): Promise<void> {
    for (const { storageId } of this.#staged.values()) await this.#options.staging.discard(storageId);
    for (const of of this.#chunks.values()) await of.discard();
  }

  async #read({ sha256, sizeBytes, encoding }: WholeLine): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.#options.archive.blob(sha256, sizeBytes, limits.pieceBytes)) {
      parts.push(Buffer.from(part));
    }
    const bytes = Buffer.concat(parts);
    if (encoding === 'base64') return bytes.toString('base64');
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // The decoder does not report the position.
      throw invalidField('encoding', 'content is not UTF-8');
    }
  }

  async #stage(name: string, line: WholeLine, text: string): Promise<ReadyContent> {
    const { pool, staging, store, accountId } = this.#options;
    const prepared = await pool.run('prepareContent', { text, encoding: line.encoding }, { accountId });
    if (!prepared.ok) throw invalidField(prepared.field, prepared.sentence);
    check(line, prepared);
    const { escaped } = prepared;
    const known = this.#staged.get(name);
    if (known !== undefined) {
      known.holders += 1;
      return known.content;
    }
    // Refused before the disk is full for the other accounts.
    if (store.diskFreeBytes() < escaped.length + limits.diskFreeBytesMin) throw new Refusal({ kind: 'storage_full' });
    const storageId = await staging.stage(escaped);
    const content = readyOf(line, { kind: 'pieces', storageId, escapedBytes: escaped.length });
    this.#staged.set(name, { content, storageId, holders: 1 });
    return content;
  }
}

function readyOf({ sha256, gitSha, sizeBytes, encoding }: ContentLine, stored: ReadyContent['stored']): ReadyContent {
  return { sha256, gitSha, sizeBytes, encoding, stored };
}

function check(line: ContentLine, found: Pick<ReadyContent, 'sha256' | 'gitSha' | 'sizeBytes'>): void {
  const isSame = found.sha256 === line.sha256 && found.gitSha === line.gitSha && found.sizeBytes === line.sizeBytes;
  if (!isSame) throw invalidField('sha256', 'sha256, git_sha or size does not match the content');
}
