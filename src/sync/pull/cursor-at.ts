/** Writes the cursor that continues a vault from a position, outside of a pull. */
import type { SyncReader } from '../log/reader.ts';
import { type CursorHash, formatPullCursor } from './cursor.ts';

interface CursorTools {
  readonly reader: SyncReader;
  readonly hash: CursorHash;
  readonly epoch: string;
}

/** The cursor after the change `seq`, for a device that has every deletion up to there. */
export function cursorAt({ reader, hash, epoch }: CursorTools, vaultId: string, seq: number): string {
  return formatPullCursor(hash, 'vault', {
    epoch,
    vaultId,
    seq,
    deletesAfter: 0,
    storedMs: reader.storedMsOf(vaultId, seq),
  });
}
