/**
 * Owns the contents of an import between the archive and the log: hashed, held against what their line says, and long ones
 * staged on the disk once however many versions hold them. They stay staged until the account is made.
 */
import type { ArchiveReader } from '../../archive/reader.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { digestContent } from '../contents/digest.ts';
import type { PieceStaging } from '../contents/staging.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { type Encoding, pieceShares } from '../log/records.ts';

/** What a line says of its content. */
export interface ContentLine {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
  readonly encoding: Encoding;
  readonly content: string | undefined;
  readonly isInBlobs: boolean;
}

export interface PortableContentsOptions {
  readonly archive: ArchiveReader;
  readonly store: Store;
  readonly pool: Pool;
  readonly staging: PieceStaging;
  /** Whose work it is. */
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

  constructor(options: PortableContentsOptions) {
    this.#options = options;
  }

  /** Makes a content ready to be stored. Refuses one that is not what its line says. */
  async ready(line: ContentLine): Promise<ReadyContent> {
    if ((line.content === undefined) !== line.isInBlobs) {
      throw invalidField('content', 'a content stands in the line or in the contents, and in one of the two');
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

  /** Within the decision that makes the account: what was staged belongs to it. */
  publish(batch: Batch): void {
    for (const { storageId, holders } of this.#staged.values()) {
      this.#options.staging.adopt(batch, storageId);
      if (holders > 1) batch.put(pieceShares, [storageId], { holders });
    }
  }

  /** Gives up what was staged. */
  async discard(): Promise<void> {
    for (const { storageId } of this.#staged.values()) await this.#options.staging.discard(storageId);
  }

  async #read({ sha256, sizeBytes, encoding }: ContentLine): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.#options.archive.blob(sha256, sizeBytes, limits.pieceBytes)) {
      parts.push(Buffer.from(part));
    }
    const bytes = Buffer.concat(parts);
    if (encoding === 'base64') return bytes.toString('base64');
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // The decoder does not say where.
      throw invalidField('encoding', 'the content is not UTF-8');
    }
  }

  async #stage(name: string, line: ContentLine, text: string): Promise<ReadyContent> {
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
    // Refused before the disk is full for everybody else.
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
  if (!isSame) throw invalidField('sha256', 'its hashes or its size are not those of the content');
}
