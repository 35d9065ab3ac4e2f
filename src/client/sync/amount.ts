/** How far a transfer is. */

export interface Amount {
  readonly files: number;
  readonly filesTotal: number;
  readonly bytes: number;
  readonly bytesTotal: number;
}

export const NOTHING: Amount = { files: 0, filesTotal: 0, bytes: 0, bytesTotal: 0 };

/** What came before, and a page. */
export function added(before: Amount, page: Amount): Amount {
  const [files, bytes] = [before.files + page.files, before.bytes + page.bytes];
  return {
    files,
    bytes,
    filesTotal: Math.max(before.filesTotal, before.files + page.filesTotal),
    bytesTotal: Math.max(before.bytesTotal, before.bytes + page.bytesTotal),
  };
}
