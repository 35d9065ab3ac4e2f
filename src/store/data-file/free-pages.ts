/**
 * Checks a list of free pages in a data file. LMDB writes to any page that such a list names, so a wrong number would put
 * a page over another. Layout: `MDB_IDL` of lmdb-js's midl.c: the number of entries, then entries of 8 bytes. 0 is an empty
 * slot; a negative number is the length of the run whose first page is the next entry.
 */
import { DamagedFile, META_PAGES } from './head.ts';

const ENTRY_BYTES = 8;

/** Throws DamagedFile when a page of the list is not in the file. */
export function checkFreePages(list: Buffer, pageLast: number): void {
  const slots = Math.floor(list.length / ENTRY_BYTES) - 1;
  const count = slots < 0 ? 0n : list.readBigUInt64LE(0);
  if (slots < 0 || count > slots) throw new DamagedFile(`a list of ${count} free pages has room for ${slots}`);
  let run = 1n;
  for (let slot = 1; slot <= Number(count); slot += 1) {
    const entry = list.readBigInt64LE(slot * ENTRY_BYTES);
    if (entry < 0n && -entry <= pageLast) run = -entry;
    else if (entry !== 0n) {
      if (entry < META_PAGES || entry + run - 1n > pageLast) {
        throw new DamagedFile(`${run} free pages begin at page ${entry} of ${pageLast}`);
      }
      run = 1n;
    }
  }
}
