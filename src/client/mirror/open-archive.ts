/** Opens an encrypted archive as one bounded stream: decrypt, gunzip, tar. */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ClientError } from '../client-error.ts';
import { formatBytes } from '../progress.ts';
import { decryptFile, encrypt, type Lock, type Unlock } from './age.ts';
import { backupExit } from './exit-codes.ts';
import { readTar, type TarEntry, type TarHeads } from './tar/tar-read.ts';

const GUNZIP_BYTES = 256 * 1024;

/** Bounds a restore, over all of its archives together. */
export class RestoreBudget {
  readonly #bytesMax: number;
  readonly #filesMax: number;
  readonly #progress: ((bytes: number, files: number) => void) | undefined;
  #bytes = 0;
  #files = 0;

  constructor(bytesMax: number, filesMax: number, progress?: (bytes: number, files: number) => void) {
    this.#bytesMax = bytesMax;
    this.#filesMax = filesMax;
    this.#progress = progress;
  }

  /** Counts unpacked bytes. Throws ClientError above the limit. */
  takeBytes(bytes: number): void {
    this.#bytes += bytes;
    this.#progress?.(this.#bytes, this.#files);
    if (this.#bytes <= this.#bytesMax) return;
    throw new ClientError(
      `the backup unpacks to more than ${formatBytes(this.#bytesMax)}, so nothing was restored. If it should be that large, ` +
        'pass a higher --max-size.',
      backupExit.damaged,
    );
  }

  /** Counts unpacked files. Throws ClientError above the limit. */
  takeFiles(files: number): void {
    this.#files += files;
    if (this.#files <= this.#filesMax) return;
    throw new ClientError(
      `the backup has more than ${this.#filesMax} files, so nothing was restored. If it should have that many, pass a ` +
        'higher --max-files.',
      backupExit.damaged,
    );
  }
}

export interface OpenedArchive {
  readonly entries: AsyncGenerator<TarEntry, void>;
  readonly heads: TarHeads;
}

/** Ends the stream: the result needs no further bytes. */
class EnoughRead extends Error {}

/**
 * Calls `use` with the entries of the archive in a file, and verifies it to its end. `isBeginning`: `use` reads only the
 * first entries, and the rest is not verified. Throws ClientError when the key is wrong, the archive damaged, or the
 * budget used up.
 */
export async function openArchive<T>(
  file: string,
  unlock: Unlock,
  budget: RestoreBudget,
  use: (archive: OpenedArchive) => Promise<T>,
  { isBeginning = false } = {},
): Promise<T> {
  const plain = await decryptFile(file, unlock);
  const results: T[] = [];
  // Leaving the stream early closes it, and the pipeline may report that instead of the reason.
  let reason: unknown;
  try {
    await pipeline(plain, createGunzip({ chunkSize: GUNZIP_BYTES }), async (unpacked: AsyncIterable<Buffer>) => {
      const heads: TarHeads = { comment: undefined };
      try {
        const result = await use({ entries: readTar(counted(unpacked, budget), heads), heads });
        results.push(result);
        if (isBeginning) throw new EnoughRead();
      } catch (error) {
        reason = error;
        throw error;
      }
    });
  } catch (error) {
    if (!(reason instanceof EnoughRead)) throw damageOf(reason ?? error);
  }
  return results[0] as T;
}

async function* counted(source: AsyncIterable<Buffer>, budget: RestoreBudget): AsyncGenerator<Buffer, void> {
  for await (const part of source) {
    budget.takeBytes(part.length);
    yield part;
  }
}

/** Errors of the disk and of the checks are passed on; any other comes from bytes that are not what was encrypted. */
function damageOf(error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const isOfDisk = error instanceof Error && 'syscall' in error;
  if (error instanceof ClientError) return error;
  if (isOfDisk) return error;
  return new ClientError(
    code.startsWith('Z_')
      ? 'the decrypted archive is not a tar.gz file, or damaged. Download it with --encrypted to examine it.'
      : 'the archive is damaged: its bytes are not those that were encrypted.',
    backupExit.damaged,
  );
}

/** The content of an archive, encrypted with another key. Throws ClientError when it is damaged. */
export async function reencrypt(file: string, unlock: Unlock, lock: Lock): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  try {
    for await (const part of await decryptFile(file, unlock)) parts.push(part as Buffer);
  } catch (error) {
    throw damageOf(error);
  }
  return await encrypt(Buffer.concat(parts), lock);
}
