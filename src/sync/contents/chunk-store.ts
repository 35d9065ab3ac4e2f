/**
 * Stores the chunks of large files, each once a vault: takes their bytes, tells which are missing, and hashes the file
 * that a list of chunks makes. What is answered is on disk.
 */
import { webcrypto } from 'node:crypto';
import { MessageChannel } from 'node:worker_threads';
import { FairPlaces } from '../../common/fair/fair-places.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import type { ByteSource } from '../../http/reply/body.ts';
import { BufferPool } from '../../http/request/buffers.ts';
import { isChunked } from '../../limits/large-file.ts';
import { limits } from '../../limits/service.ts';
import type { DigestMessage, DigestReturn } from '../../pool/jobs.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Store } from '../../store/store.ts';
import type { Chunk } from '../../text/chunk-list.ts';
import { chunkKeptBytes } from '../log/change.ts';
import { liveFile } from '../log/file-record.ts';
import { type FileRoom, overRoom } from '../log/file-room.ts';
import { checkPath } from '../log/paths.ts';
import { SyncReader, type VaultOf } from '../log/reader.ts';
import { type ChunkRecord, fileChunks, pieces } from '../log/records.ts';
import type { Turn, VaultLog } from '../log/vault-log.ts';
import { ChunkBytes, DamagedChunk } from './chunk-bytes.ts';
import { eachOnce, isToNote, missingChunks } from './chunk-refs.ts';
import { removePieces } from './piece-shares.ts';
import type { PieceStaging } from './staging.ts';

export interface ChunkStoreOptions {
  readonly store: Store;
  readonly pool: Pool;
  readonly staging: PieceStaging;
  readonly log: VaultLog;
  readonly room: FileRoom;
  readonly now: () => number;
}

/** Size and hashes of a whole file, as of `DigestedContent`. */
export interface FileDigest {
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly gitSha: string;
}

/** A file that chunks will make. */
export interface MadeFile {
  readonly path: string;
  readonly size_bytes: number;
  /** The bytes of each chunk that is asked for, in that order. Without it, nothing is known of what they add to the history. */
  readonly chunk_bytes?: readonly number[] | undefined;
}

/** Pieces of a file that are on their way to the pool at once. */
const PIECES_AHEAD = 3;

export class ChunkStore {
  readonly #options: ChunkStoreOptions;
  /** Chunks are in memory while they are compared with their hash. */
  readonly #checks = new FairPlaces(limits.chunkChecksMax);
  readonly #buffers = new BufferPool(limits.fileChunkBytesMax);
  /** Vault and hash of chunks whose bytes were found damaged: they count as missing until they are sent again. */
  readonly #damaged = new Set<string>();

  constructor(options: ChunkStoreOptions) {
    this.#options = options;
  }

  /**
   * Stores a chunk; one that is stored and intact changes nothing. Throws Refusal `invalid_fields` when the bytes have
   * another hash, `quota_exceeded`, `storage_reserved`.
   */
  async put(
    { accountId, vaultId }: VaultOf,
    sha256: string,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<'stored' | 'known'> {
    const { staging } = this.#options;
    if (bytes.length === 0) throw invalidField('sha256', 'a chunk has at least one byte');
    const found = await sha256Of(bytes);
    if (found !== sha256) throw invalidField('sha256', `the received bytes have the SHA-256 ${found}; send them again`);
    if (await this.#isKept({ accountId, vaultId }, sha256)) {
      this.#damaged.delete(`${vaultId} ${sha256}`);
      return 'known';
    }
    return await staging.turn(accountId, async () => {
      const storageId = await staging.stage(bytes);
      let isAdopted = false;
      try {
        await this.#options.log.write(accountId, vaultId, ['chunk', sha256], (turn): void => {
          this.#adopt(turn, sha256, { storage_id: storageId, bytes: bytes.length, holders: 0, since_ms: turn.nowMs });
          isAdopted = true;
        });
        this.#damaged.delete(`${vaultId} ${sha256}`);
      } finally {
        if (!isAdopted) await staging.discard(storageId);
      }
      return 'stored' as const;
    });
  }

  /** True for a chunk that is stored and intact, and that stays for a day from now on. */
  async #isKept(place: VaultOf, sha256: string): Promise<boolean> {
    if ((await this.#bytesWhole(place, sha256)) === undefined) return false;
    return (await this.#options.staging.lists.keep(place, [sha256])).length === 0;
  }

  #adopt({ batch, change, accountId, vaultId }: Turn, sha256: string, record: ChunkRecord): void {
    const { room, staging } = this.#options;
    const row = batch.get(fileChunks, [vaultId, sha256]);
    room.checkReserve(accountId);
    if (row === undefined) {
      const { files, history } = room.quotasOf(accountId);
      const used = change.used;
      // What no file lists yet counts to neither quota alone.
      const neededBytes = chunkKeptBytes(record.bytes);
      if (used.files + used.history + neededBytes > files + history) {
        room.noteRefused('files');
        const usedBytes = used.files + used.history;
        throw new Refusal({
          kind: 'quota_exceeded',
          of: 'files',
          quotaBytes: files + history,
          usedBytes,
          neededBytes,
        });
      }
      change.countChunk(record.bytes);
    } else {
      // Damaged, or sent twice at once: these bytes are right.
      removePieces(batch, row.storage_id);
    }
    batch.put(fileChunks, [vaultId, sha256], { ...record, holders: row?.holders ?? 0 });
    staging.adopt(batch, record.storage_id);
    change.finish();
  }

  /** The bytes of a large file, read while they are sent. */
  source(vaultId: string, listed: readonly Chunk[]): ByteSource {
    return new ChunkBytes(this.#options.store, vaultId, listed);
  }

  /**
   * Those of these hashes that the vault does not have, or whose bytes were found damaged; the others stay for a day. Works
   * in turns. Throws Refusal `quota_exceeded` when there is no room for the file that they will make.
   */
  async missing({ accountId, vaultId }: VaultOf, wanted: readonly string[], file?: MadeFile): Promise<string[]> {
    const { store, staging, now } = this.#options;
    if (file !== undefined) this.#checkRoom({ accountId, vaultId }, file);
    const missing = new Set<string>();
    const toNote: string[] = [];
    let addedBytes = 0;
    for (const [sha256, bytes] of bytesOfEach(wanted, file)) {
      if (turns.isOver) await turns.next(accountId);
      const row = store.get(fileChunks, [vaultId, sha256]);
      if (row === undefined && bytes !== undefined) addedBytes += chunkKeptBytes(bytes);
      if (row === undefined || this.#damaged.has(`${vaultId} ${sha256}`)) missing.add(sha256);
      else if (isToNote(row, now())) toNote.push(sha256);
    }
    if (file !== undefined && addedBytes > 0) this.#checkHistory({ accountId, vaultId }, file, addedBytes);
    for (const sha256 of await staging.lists.keep({ accountId, vaultId }, toNote)) missing.add(sha256);
    return [...missing];
  }

  /** Chunks of a file that does not fit would count to the history until they go, and nothing else would fit meanwhile. */
  #checkRoom({ accountId, vaultId }: VaultOf, { path, size_bytes: sizeBytes }: MadeFile): void {
    const { store, room } = this.#options;
    const reader = new SyncReader(store);
    const { folded } = checkPath(path);
    // At most, so that nothing is refused that the push would be taken for: it settles some of these conflicts.
    const freedBytes = reader
      .pendingOf(vaultId, folded)
      .reduce((sum, { record }) => sum + record.size_bytes, liveFile(reader.file(vaultId, folded))?.size_bytes ?? 0);
    const neededBytes = sizeBytes - freedBytes;
    const quotaBytes = room.quotasOf(accountId).files;
    const usedBytes = reader.useOf(accountId).files;
    if (neededBytes <= 0 || usedBytes + neededBytes <= quotaBytes) return;
    room.noteRefused('files');
    throw new Refusal({ kind: 'quota_exceeded', of: 'files', quotaBytes, usedBytes, neededBytes });
  }

  /**
   * Throws Refusal `quota_exceeded` where the push would: once the chunks are stored, which adds these bytes, what the file takes the
   * place of has no room.
   */
  #checkHistory({ accountId, vaultId }: VaultOf, { path, size_bytes: sizeBytes }: MadeFile, addedBytes: number): void {
    const { store, room } = this.#options;
    const reader = new SyncReader(store);
    const { files, history } = reader.useOf(accountId);
    const used = { files, history: history + addedBytes };
    const quotas = { ...room.quotasOf(accountId), files: Number.POSITIVE_INFINITY };
    // At least: a push that settles conflicts moves their bytes as well.
    const freedBytes = liveFile(reader.file(vaultId, checkPath(path).folded))?.size_bytes ?? 0;
    const over = overRoom(quotas, () => used, sizeBytes, freedBytes);
    if (over === undefined) return;
    room.noteRefused('history');
    throw new Refusal({ ...over, usedBytes: history, neededBytes: addedBytes + over.neededBytes });
  }

  /**
   * Throws Refusal `invalid_fields` that names the damaged chunks of a list, if there are any: they are asked for again, and
   * a list that has them makes another file than its sender says.
   */
  async refuseDamaged({ accountId, vaultId }: VaultOf, listed: readonly Chunk[]): Promise<void> {
    const damaged: string[] = [];
    for (const { sha256 } of eachOnce(listed)) {
      if ((await this.#bytesWhole({ accountId, vaultId }, sha256)) !== undefined) continue;
      this.#damaged.add(`${vaultId} ${sha256}`);
      damaged.push(sha256);
    }
    if (damaged.length > 0) throw missingChunks(damaged);
  }

  /**
   * A chunk whose bytes match its hash, read again while it is sent: a slow reader holds no memory. Undefined when it is not
   * stored, or damaged.
   */
  async whole(place: VaultOf, sha256: string): Promise<ByteSource | undefined> {
    const bytes = await this.#bytesWhole(place, sha256);
    return bytes === undefined ? undefined : this.source(place.vaultId, [{ sha256, bytes }]);
  }

  /** The number of bytes of a chunk; undefined when it is not stored, or damaged. A few are in memory at a time. */
  #bytesWhole({ accountId, vaultId }: VaultOf, sha256: string): Promise<number | undefined> {
    return this.#checks.run(accountId, async () => {
      const buffer = this.#buffers.take();
      try {
        const bytes = this.#read(vaultId, sha256, buffer);
        return bytes !== undefined && (await sha256Of(bytes)) === sha256 ? bytes.length : undefined;
      } finally {
        this.#buffers.give(buffer);
      }
    });
  }

  /** The bytes of a chunk as they are stored, in a buffer; undefined when it is not stored, or not whole. */
  #read(vaultId: string, sha256: string, buffer: ArrayBuffer): Uint8Array<ArrayBuffer> | undefined {
    const { store } = this.#options;
    const row = store.get(fileChunks, [vaultId, sha256]);
    if (row === undefined || row.bytes > buffer.byteLength) return undefined;
    const bytes = new Uint8Array(buffer, 0, row.bytes);
    let filled = 0;
    for (const key of store.keys(pieces, [row.storage_id])) {
      const piece = store.view(pieces, key);
      if (piece === undefined || filled + piece.length > bytes.length) return undefined;
      bytes.set(piece, filled);
      filled += piece.length;
    }
    return filled === bytes.length ? bytes : undefined;
  }

  /**
   * Hashes the file that the chunks of a list make, in the pool. Throws Refusal `invalid_fields` for a file of another
   * size than chunked files have, or a chunk that is not stored.
   */
  async digest(accountId: string, vaultId: string, listed: readonly Chunk[]): Promise<FileDigest> {
    const { store, pool } = this.#options;
    const file = new ChunkBytes(store, vaultId, listed);
    checkSize(file.bytesTotal);
    const absent = new Set<string>();
    for (const { sha256, bytes } of listed) {
      if (turns.isOver) await turns.next(accountId);
      if (store.get(fileChunks, [vaultId, sha256])?.bytes !== bytes) absent.add(sha256);
    }
    if (absent.size > 0) throw missingChunks([...absent]);
    const { port1, port2 } = new MessageChannel();
    try {
      const input = { port: port2, sizeBytes: file.bytesTotal };
      const digest = pool.run('digestFile', input, { accountId }, [port2]);
      const failed = digest.then(
        () => undefined,
        (error: Error) => error,
      );
      const send = (message: DigestMessage, transfer: ArrayBuffer[]) => port1.postMessage(message, transfer);
      const buffers = new Buffers(PIECES_AHEAD);
      port1.on('message', ({ buffer }: DigestReturn) => buffers.give(buffer));
      for (let offset = 0; offset < file.bytesTotal; ) {
        const buffer = await Promise.race([buffers.take(), failed]);
        if (!(buffer instanceof ArrayBuffer)) throw buffer ?? new Error('the digest job ended before the file did');
        const piece = file.read(offset);
        new Uint8Array(buffer).set(piece);
        offset += piece.length;
        send({ type: 'chunk', buffer, length: piece.length }, [buffer]);
      }
      send({ type: 'end' }, []);
      const made = await digest;
      if (made === undefined) throw new Error('the digest job ended before the file did');
      return { sizeBytes: file.bytesTotal, ...made };
    } catch (error) {
      // Removed meanwhile, or damaged: its sender can send it again.
      if (error instanceof DamagedChunk) await this.refuseDamaged({ accountId, vaultId }, listed);
      throw error;
    } finally {
      port1.close();
    }
  }
}

/** Each of these hashes once, with the bytes of its chunk where they are told. Throws Refusal `invalid_fields`. */
function bytesOfEach(wanted: readonly string[], file: MadeFile | undefined): ReadonlyMap<string, number | undefined> {
  const told = file?.chunk_bytes;
  if (told !== undefined && told.length !== wanted.length)
    throw invalidField('file', 'chunk_bytes has a number for each sha256');
  return new Map(wanted.map((sha256, at) => [sha256, told?.[at]]));
}

function checkSize(bytes: number): void {
  if (!isChunked(bytes)) {
    throw invalidField(
      'content',
      `the chunks make ${bytes} bytes; a file of at most ${limits.fileBytesMax} is sent whole`,
    );
  }
  if (bytes > limits.largeFileBytesMax) {
    throw invalidField('content', `the chunks make ${bytes} bytes; a file has at most ${limits.largeFileBytesMax}`);
  }
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

/** A fixed number of buffers of one piece each. */
class Buffers {
  readonly #free: ArrayBuffer[];
  #taker: ((buffer: ArrayBuffer) => void) | undefined;

  constructor(count: number) {
    this.#free = Array.from({ length: count }, () => new ArrayBuffer(limits.pieceBytes));
  }

  take(): Promise<ArrayBuffer> {
    const free = this.#free.pop();
    if (free !== undefined) return Promise.resolve(free);
    return new Promise((resolve) => {
      this.#taker = resolve;
    });
  }

  give(buffer: ArrayBuffer): void {
    const taker = this.#taker;
    this.#taker = undefined;
    if (taker === undefined) this.#free.push(buffer);
    else taker(buffer);
  }
}
