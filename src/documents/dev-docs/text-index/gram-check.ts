/** Checks the text index: rebuilds it one chunk at a time and compares the rows. Read-only. */
import type { CheckedReader } from '../../../store/checked-reader.ts';
import { devDocGrams } from '../records.ts';
import { CHUNK_DOCS, chunkOf, columnOf, GROUP_SLOTS, GROUPS } from './gram-index.ts';
import { hasSlot, type Signature, SLOTS } from './grams.ts';

const WIDTH = CHUNK_DOCS / 8;

/** Expects signatures in the order of accounts and document numbers. */
export class GramCheck {
  readonly #reader: CheckedReader;
  readonly #problems: string[];
  #accountId = '';
  #chunk = -1;
  #expected = new Uint8Array(0);
  #rows = 0;

  constructor(reader: CheckedReader, problems: string[]) {
    this.#reader = reader;
    this.#problems = problems;
  }

  expect(accountId: string, docId: number, signature: Signature): void {
    if (accountId !== this.#accountId || chunkOf(docId) !== this.#chunk) {
      this.#compare();
      [this.#accountId, this.#chunk] = [accountId, chunkOf(docId)];
      this.#expected = new Uint8Array(GROUPS * GROUP_SLOTS * WIDTH);
    }
    const column = columnOf(docId);
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const at = slot * WIDTH + (column >>> 3);
      if (hasSlot(signature, slot)) this.#expected[at] = (this.#expected[at] ?? 0) | (1 << (column & 7));
    }
  }

  /** Compares the last chunk and the number of rows. Call it after the last document. */
  finish(): void {
    this.#compare();
    const rows = this.#reader.count(devDocGrams);
    if (rows !== this.#rows) {
      this.#problems.push(`text index of dev docs: ${rows} rows for ${this.#rows} that there should be`);
    }
  }

  #compare(): void {
    if (this.#chunk < 0) return;
    for (let group = 0; group < GROUPS; group += 1) {
      const expected = this.#expected.subarray(group * GROUP_SLOTS * WIDTH, (group + 1) * GROUP_SLOTS * WIDTH);
      const row = this.#reader.get(devDocGrams, [this.#accountId, this.#chunk, group]);
      if (expected.some((byte) => byte !== 0)) this.#rows += 1;
      if (isSame(row, expected)) continue;
      this.#problems.push(`text index ${this.#accountId} ${this.#chunk} ${group}: differs from the texts`);
    }
  }
}

/** True when a row has the expected bits. A row is only as wide as its last document needs. */
function isSame(row: Uint8Array | undefined, expected: Uint8Array): boolean {
  const width = (row?.length ?? 0) / GROUP_SLOTS;
  return expected.every((byte, at) => {
    const [slot, column] = [Math.floor(at / WIDTH), at % WIDTH];
    return byte === (column < width ? (row?.[slot * width + column] ?? 0) : 0);
  });
}
