/**
 * Finds files by path and content. The numbers of names, texts and bytes searched are limited. The search runs in turns
 * of its account, so that it blocks nobody else.
 */
import { Refusal } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Sync } from '../../sync/service.ts';
import { foldForSearch, lineWith } from './fold.ts';

interface FoundFile {
  readonly vaultId: string;
  readonly vault: string;
  readonly path: string;
  /** The matching line; undefined: the path matched. */
  readonly line: string | undefined;
}

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** False: the search stopped at its limit. */
  readonly complete: boolean;
}

interface Budget {
  names: number;
  texts: number;
  bytes: number;
}

/** `wanted` must be folded by `foldForSearch`. */
export async function findVaultFiles(sync: Sync, accountId: string, wanted: string): Promise<FoundFiles> {
  const found: FoundFile[] = [];
  const left: Budget = { names: limits.searchNamesMax, texts: limits.searchTextsMax, bytes: limits.searchBytesMax };
  let complete = true;
  for (const { id, record } of sync.vaults.list(accountId)) {
    for await (const { file } of sync.reading.fileLists.walk({ accountId, vaultId: id }, '')) {
      if (found.length >= limits.searchRows || left.names === 0) return { files: found, complete: false };
      left.names -= 1;
      if (file.deleted) continue;
      const place = { vaultId: id, vault: record.name, path: file.path };
      if (foldForSearch(file.path).includes(wanted)) {
        found.push({ ...place, line: undefined });
        continue;
      }
      if (file.size_bytes > limits.searchTextBytesMax) continue;
      if (left.texts === 0 || left.bytes < file.size_bytes) {
        complete = false;
        continue;
      }
      left.texts -= 1;
      left.bytes -= file.size_bytes;
      const line = lineWith(textOf(sync, id, file.seq), wanted);
      if (line !== undefined) found.push({ ...place, line });
      if (turns.isOver) await turns.next(accountId);
    }
  }
  return { files: found, complete };
}

/** The text of a small version; undefined: it is not text, has changed since, or is damaged. */
function textOf({ reader }: Sync, vaultId: string, seq: number): string | undefined {
  const head = reader.versionHead(vaultId, seq);
  if (head === undefined || head.encoding === 'base64' || head.storageId !== 0) return undefined;
  try {
    return reader.contentText(vaultId, seq);
  } catch (error) {
    // Damage is reported where the file is read.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
