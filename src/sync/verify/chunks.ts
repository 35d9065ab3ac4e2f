/** Checks the chunks of large files: their bytes, the files that they make, and how many lists have each. Read-only. */
import { hash } from 'node:crypto';
import { startFileDigest } from '../../pool/digest.ts';
import type { CheckedReader } from '../../store/checked-reader.ts';
import { bytesOfChunks, type Chunk } from '../../text/chunk-list.ts';
import { eachOnce } from '../contents/chunk-refs.ts';
import { heldOf } from '../contents/held-lists.ts';
import { readChunkList } from '../log/large-content.ts';
import { fileChunks, pieces, type StagedRecord } from '../log/records.ts';

interface ExpectedFile {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
}

export class ChunkVerifier {
  readonly #reader: CheckedReader;
  readonly #problems: string[];
  /** By storage id of a list: a list is checked once, however many versions share it. */
  readonly #lists = new Map<number, boolean>();
  /** Number of lists by vault and chunk. */
  readonly #holders = new Map<string, number>();
  /** The same of staged lists. Their chunks may be gone: with their vault, or as those of an interrupted removal. */
  readonly #stagedHolders = new Map<string, number>();

  constructor(reader: CheckedReader, problems: string[]) {
    this.#reader = reader;
    this.#problems = problems;
  }

  /** True when a list is intact and its chunks make the file. */
  isRight(
    { vaultId, storageId }: { readonly vaultId: string; readonly storageId: number },
    text: string,
    expected: ExpectedFile,
  ): boolean {
    const known = this.#lists.get(storageId);
    if (known !== undefined) return known;
    const list = readChunkList(text) ?? [];
    for (const { sha256 } of eachOnce(list)) {
      const name = `${vaultId} ${sha256}`;
      this.#holders.set(name, (this.#holders.get(name) ?? 0) + 1);
    }
    const isRight = list.length > 0 && this.#makes(vaultId, list, expected);
    this.#lists.set(storageId, isRight);
    return isRight;
  }

  /** Counts a staged list, as far as its chunks count it. */
  countStaged(storageId: number, { held }: StagedRecord): void {
    if (held === undefined) return;
    for (const { sha256 } of heldOf(held, storedBytes(this.#reader, storageId))) {
      const name = `${held.vault_id} ${sha256}`;
      this.#stagedHolders.set(name, (this.#stagedHolders.get(name) ?? 0) + 1);
    }
  }

  /** Checks each chunk, after all lists. Returns the storage ids that they use. */
  finish(): number[] {
    const used: number[] = [];
    this.#reader.each(fileChunks, ({ key, value }) => {
      const name = key.join(' ');
      used.push(value.storage_id);
      const bytes = storedBytes(this.#reader, value.storage_id);
      if (bytes.length !== value.bytes || hash('sha256', bytes) !== key[1]) {
        this.#problems.push(`chunk ${name}: its bytes do not match its hash; a push of a file with it restores it`);
      }
      const found = (this.#holders.get(name) ?? 0) + (this.#stagedHolders.get(name) ?? 0);
      this.#holders.delete(name);
      if (found !== value.holders)
        this.#problems.push(`chunk ${name}: ${found} lists have it, but the row has ${value.holders}`);
    });
    for (const name of this.#holders.keys()) this.#problems.push(`chunk ${name}: missing`);
    return used;
  }

  #makes(vaultId: string, list: readonly Chunk[], { sha256, gitSha, sizeBytes }: ExpectedFile): boolean {
    if (bytesOfChunks(list) !== sizeBytes) return false;
    const digest = startFileDigest(sizeBytes);
    for (const chunk of list) {
      const row = this.#reader.get(fileChunks, [vaultId, chunk.sha256]);
      if (row === undefined) return false;
      digest.update(storedBytes(this.#reader, row.storage_id));
    }
    const made = digest.finish();
    return made.sha256 === sha256 && made.gitSha === gitSha;
  }
}

/** The pieces of a storage id, concatenated, as far as they can be read. */
export function storedBytes(reader: CheckedReader, storageId: number): Buffer {
  const found: Uint8Array[] = [];
  for (const key of reader.keys(pieces, [storageId])) {
    found.push(reader.view(pieces, key)?.slice() ?? new Uint8Array(0));
  }
  return Buffer.concat(found);
}
