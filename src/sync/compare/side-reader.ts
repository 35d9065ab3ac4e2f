/**
 * Reads the sides of a diff or a merge: the current version of a path, an older one by its hash, the content of a
 * refused push, and content sent by a caller.
 */
import { invalidField, Refusal } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import { digestContent } from '../contents/digest.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { ChainLink, Conflict, SyncReader, VaultOf, VersionBytes } from '../log/reader.ts';
import { type WholeContent, wholeContent } from '../log/stored-content.ts';
import { type Encoding, readVersionHead, versionSha256, type WholeEncoding } from '../log/version.ts';
import { checkSha256 } from '../push/input.ts';
import type { Base } from '../push/types.ts';
import type { FileSide, Side } from './sides.ts';

export interface GivenContent {
  readonly content: string;
  readonly encoding: WholeEncoding;
  /** SHA-256 claimed by the caller; undefined when none was sent. */
  readonly sha256: string | undefined;
}

/** A side, with its git blob id. */
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

  /** A version of a path. Kind `nothing` for a tombstone and for a version no longer kept. */
  async version({ accountId, vaultId }: VaultOf, seq: number): Promise<Side> {
    const stored = this.#reader.versionBytes(vaultId, seq);
    if (stored === undefined) return { kind: 'nothing' };
    const whole = await this.#read(accountId, stored);
    if (whole === undefined) throw this.#reader.damagedVersion(vaultId, seq);
    const { version } = stored;
    if (whole.text === undefined) return { kind: 'nothing' };
    const { encoding } = readVersionHead(version);
    return sideOf(versionSha256(version), encoding, whole.text);
  }

  /** To unescape and hash a long content takes five milliseconds or more, so the pool does it. */
  async #read(accountId: string, stored: VersionBytes): Promise<WholeContent | undefined> {
    const isLong = stored.escaped.length > 0;
    if (isLong) return await this.#pool.run('readStored', stored, { accountId });
    return wholeContent(stored.version, () => stored.escaped);
  }

  /** The hub's current side of a path. Kind `nothing` when the file was deleted or never existed. */
  async current(vault: VaultOf, file: FileRecord | undefined): Promise<Side> {
    return file === undefined ? { kind: 'nothing' } : await this.version(vault, file.seq);
  }

  /** The version named by the caller's base. Undefined when it is unknown or no longer kept. */
  async base(vault: VaultOf, file: FileRecord | undefined, base: Base): Promise<ChainLink | undefined> {
    return file === undefined || base.kind !== 'sha' ? undefined : await this.find(vault, file, base.sha);
  }

  /** The content of a refused push. Throws Refusal `not_found` when its bytes are no longer stored. */
  conflict(vaultId: string, conflict: Conflict): Side {
    const { your_sha256: sha256, encoding } = conflict.record;
    if (sha256 === null) return { kind: 'nothing' };
    if (encoding === 'chunks') return sideOf(sha256, encoding, '');
    const bytes = this.#reader.conflictContent(vaultId, conflict);
    if (bytes === undefined) {
      throw new Refusal({ kind: 'not_found', what: 'the bytes of this conflict are no longer stored' });
    }
    return sideOf(sha256, encoding, bytes.toString(encoding === 'base64' ? 'base64' : 'utf8'));
  }

  /**
   * The side of content sent by a caller. Throws Refusal `invalid_fields` when the content could not be pushed either.
   */
  async given(accountId: string, { content: text, encoding, sha256: claimed }: GivenContent): Promise<GivenSide> {
    const isLong = text.length > limits.inlineContentBytesMax;
    const [digested] = isLong
      ? await this.#pool.run('digestContents', [{ text, encoding }], { accountId })
      : [digestContent({ text, encoding })];
    if (digested === undefined) throw new Error('the digests of a content are missing');
    if (!digested.ok) throw invalidField(digested.field, digested.sentence);
    const { sha256, gitSha } = digested;
    if (claimed !== undefined) checkSha256(claimed, { sha256 });
    return { side: sideOf(sha256, encoding, text), gitSha };
  }

  /**
   * Finds the newest version of a file with this sha256 or git blob id, also under its former names. Yields to other
   * callers and stops after `limits.chainWalkMax` versions, because a busy path has very many. Undefined when none was
   * found.
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

function sideOf(sha256: string, encoding: Encoding, text: string): FileSide {
  return encoding === 'chunks'
    ? { kind: 'large', sha256 }
    : { kind: encoding === 'base64' ? 'binary' : 'text', sha256, text };
}
