/**
 * Maintains the rows of the text index: bits by slot, so that a search reads only the slots it needs.
 *
 * Documents are grouped into chunks of 512 by number, and slots into groups of 63. A row contains, for each slot of its
 * group, one bit per document of its chunk, in as many bytes as its last document needs. So an account with few
 * documents has short rows, and a full row just fits in a page of the store. A search over 10,000 documents reads at
 * most twenty rows per slot. A write changes at most 66 rows, nearly always all of them.
 */
import type { Batch } from '../../../store/group-commit.ts';
import type { Reader } from '../../../store/table.ts';
import { devDocGrams } from '../records.ts';
import { hasSlot, type Signature, SLOTS } from './grams.ts';

export const CHUNK_DOCS = 512;
export const GROUP_SLOTS = 63;
export const GROUPS = Math.ceil(SLOTS / GROUP_SLOTS);

export function chunkOf(docId: number): number {
  return Math.floor((docId - 1) / CHUNK_DOCS);
}

export function columnOf(docId: number): number {
  return (docId - 1) % CHUNK_DOCS;
}

/** Replaces the slots of a document. An undefined signature has none: the document is missing or not live. */
export function moveGrams(
  batch: Batch,
  accountId: string,
  docId: number,
  before: Signature | undefined,
  after: Signature | undefined,
): void {
  const [chunk, column] = [chunkOf(docId), columnOf(docId)];
  const changed = changedSlots(before, after);
  for (let next = 0; next < changed.length; ) {
    const group = Math.floor((changed[next] ?? 0) / GROUP_SLOTS);
    const key: [string, number, number] = [accountId, chunk, group];
    const row = widen(batch.get(devDocGrams, key), column);
    for (; next < changed.length && Math.floor((changed[next] ?? 0) / GROUP_SLOTS) === group; next += 1) {
      const slot = changed[next] ?? 0;
      setBit(row, slot % GROUP_SLOTS, column, after !== undefined && hasSlot(after, slot));
    }
    // A row can only become empty when bits were cleared.
    if (before !== undefined && row.every((byte) => byte === 0)) batch.remove(devDocGrams, key);
    else batch.put(devDocGrams, key, row);
  }
}

/** Returns the documents of a chunk that have all `slots`, newest first, below `beforeId`. */
export function candidatesOf(
  reader: Pick<Reader, 'get'>,
  accountId: string,
  chunk: number,
  slots: readonly number[],
  beforeId: number,
): number[] {
  const all = new Uint8Array(CHUNK_DOCS / 8).fill(0xff);
  for (const slot of slots) {
    const row = reader.get(devDocGrams, [accountId, chunk, Math.floor(slot / GROUP_SLOTS)]);
    if (row === undefined) return [];
    const width = row.length / GROUP_SLOTS;
    const start = (slot % GROUP_SLOTS) * width;
    let any = 0;
    for (let at = 0; at < all.length; at += 1) {
      const both = at < width ? (all[at] ?? 0) & (row[start + at] ?? 0) : 0;
      all[at] = both;
      any |= both;
    }
    // Most chunks contain no document with a rare text, which the first slots already show.
    if (any === 0) return [];
  }
  const found: number[] = [];
  for (let column = Math.min(CHUNK_DOCS, beforeId - 1 - chunk * CHUNK_DOCS) - 1; column >= 0; column -= 1) {
    if ((((all[column >>> 3] ?? 0) >>> (column & 7)) & 1) === 1) found.push(chunk * CHUNK_DOCS + column + 1);
  }
  return found;
}

/** Returns the slots in exactly one of the two signatures, ascending. */
function changedSlots(before: Signature | undefined, after: Signature | undefined): number[] {
  const slots: number[] = [];
  for (let byte = 0; byte < SLOTS / 8; byte += 1) {
    let bits = (before?.[byte] ?? 0) ^ (after?.[byte] ?? 0);
    for (let slot = byte * 8; bits !== 0; slot += 1) {
      if ((bits & 1) === 1) slots.push(slot);
      bits >>>= 1;
    }
  }
  return slots;
}

/** Returns the row, made wide enough for a column. */
function widen(row: Uint8Array | undefined, column: number): Uint8Array {
  const width = (row?.length ?? 0) / GROUP_SLOTS;
  const wanted = Math.max(width, (column >>> 3) + 1);
  if (row !== undefined && wanted === width) return row;
  const wider = new Uint8Array(wanted * GROUP_SLOTS);
  for (let slot = 0; slot < GROUP_SLOTS && row !== undefined; slot += 1) {
    wider.set(row.subarray(slot * width, (slot + 1) * width), slot * wanted);
  }
  return wider;
}

function setBit(row: Uint8Array, slot: number, column: number, isSet: boolean): void {
  const at = slot * (row.length / GROUP_SLOTS) + (column >>> 3);
  const bit = 1 << (column & 7);
  row[at] = isSet ? (row[at] ?? 0) | bit : (row[at] ?? 0) & ~bit;
}
