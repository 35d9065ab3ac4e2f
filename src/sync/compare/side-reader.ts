/**
 * Owns how the sides of a diff or a merge are found: the current version of a path, an older one by its hash, what a
 * refused push brought, what a caller sends.
 */
import { invalidField, Refusal } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import { digestContent } from '../contents/digest.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { ChainLink, Conflict, SyncReader, VaultOf } from '../log/reader.ts';
import type { Encoding } from '../log/records.ts';
import { checkSha256 } from '../push/input.ts';
import type { Base } from '../push/types.ts';
import type { FileSide, Side } from './sides.ts';

export interface GivenContent {
  readonly content: string;
  readonly encoding: Encoding;
  /** What the caller says the hash is; undefined: nothing. */
  readonly sha256: string | undefined;
}

/** A side with the other hash that it is known by. */
export interface GivenSide {
  readonly side: FileSide;
  readonly gitSha: string;
}

export class SideReader {
  readonly #reader: SyncReader;
  readonly #pool: Pool;

  constructor(reader: SyncReader, pool: Pool) {
    this.#reader = reader;
    this.#pool = pool;
  }

  /** A version of a path. A tombstone, or one that is not kept any more, is nothing. */
  version(vaultId: string, seq: number): Side {
    const head = this.#reader.versionHead(vaultId, seq);
    const meta = this.#reader.versionMeta(vaultId, seq);
    const text = this.#reader.contentText(vaultId, seq);
    if (head === undefined || meta === undefined || text === undefined) return { kind: 'nothing' };
    return { kind: kindOf(head.encoding), sha256: meta.sha256, text };
  }

  /** What the hub has of a path; undefined: there never was a file. */
  current(vaultId: string, file: FileRecord | undefined): Side {
    return file === undefined ? { kind: 'nothing' } : this.version(vaultId, file.seq);
  }

  /** The version of a file that a caller builds on; undefined: it is not known, or not kept. */
  async base(vault: VaultOf, file: FileRecord | undefined, base: Base): Promise<ChainLink | undefined> {
    return file === undefined || base.kind !== 'sha' ? undefined : await this.find(vault, file, base.sha);
  }

  /** What a refused push brought. Refuses when it is not kept any more. */
  conflict(vaultId: string, conflict: Conflict): Side {
    const { your_sha256: sha256, encoding } = conflict.record;
    if (sha256 === null) return { kind: 'nothing' };
    const bytes = this.#reader.conflictContent(vaultId, conflict);
    if (bytes === undefined) {
      throw new Refusal({ kind: 'not_found', what: 'the bytes of this conflict are no longer stored' });
    }
    return { kind: kindOf(encoding), sha256, text: bytes.toString(encoding === 'base64' ? 'base64' : 'utf8') };
  }

  /** What a caller sends. Refuses with `invalid_fields` what could not be pushed. */
  async given(accountId: string, { content: text, encoding, sha256: claimed }: GivenContent): Promise<GivenSide> {
    const isLong = text.length > limits.inlineContentBytesMax;
    const digested = isLong
      ? await this.#pool.run('prepareContent', { text, encoding }, { accountId })
      : digestContent({ text, encoding });
    if (!digested.ok) throw invalidField(digested.field, digested.sentence);
    const { sha256, gitSha } = digested;
    if (claimed !== undefined) checkSha256(claimed, { sha256 });
    return { side: { kind: kindOf(encoding), sha256, text }, gitSha };
  }

  /**
   * The newest version of a file that has this sha256 or git id, under the names that it had before as well. A busy path
   * has very many versions, so that others have their turn in between.
   */
  async find({ accountId, vaultId }: VaultOf, file: FileRecord, sha: string): Promise<ChainLink | undefined> {
    let looked = 0;
    for (let seq: number | undefined = file.seq; seq !== undefined; ) {
      let formerSeq: number | undefined;
      for (const link of this.#reader.chain(vaultId, seq)) {
        if (!link.deleted && (link.sha256 === sha || link.gitSha === sha)) return link;
        looked += 1;
        if (looked > limits.chainWalkMax) return undefined;
        if (formerSeq === undefined) {
          const meta = this.#reader.versionMeta(vaultId, link.seq);
          if (meta?.renamed_from !== undefined) formerSeq = this.#reader.seqBeforeMove(vaultId, meta) || undefined;
        }
        if (turns.isOver) await turns.next(accountId);
      }
      seq = formerSeq;
    }
    return undefined;
  }
}

function kindOf(encoding: Encoding): 'text' | 'binary' {
  return encoding === 'base64' ? 'binary' : 'text';
}
