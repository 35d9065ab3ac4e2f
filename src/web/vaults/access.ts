/** Owns whose vault a page may look at, and how bytes of a vault leave for the reader's disk. */
import { Refusal } from '../../common/fault.ts';
import type { Shares } from '../../common/shares.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Sync } from '../../sync/service.ts';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages } from '../pages.ts';

export interface VaultOptions extends Pick<Capabilities, 'sync'> {
  readonly pages: Pages;
  /** What downloads from pages may hold together. */
  readonly downloads: Shares;
}

/** A vault of this account. Refuses with `not_found`, one of another account as one that is not there. */
export function vaultOf({ vaults }: Sync, accountId: string, id: string | undefined): VaultState {
  const found = vaults.list(accountId).find((vault) => vault.id === id);
  if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'there is no such vault' });
  return found;
}

/**
 * Bytes to keep, never to be shown by the browser itself: they may be markup. They are read whole, since they are stored in
 * another form, so what all readers hold is bounded. Refuses with `overloaded`, and with `not_found` when there are none.
 */
export function attachment(
  { downloads }: Pick<VaultOptions, 'downloads'>,
  { request }: Pick<MemberVisit, 'request'>,
  sizeBytes: number,
  read: () => Uint8Array | undefined,
): Reply {
  const close = downloads.take(request.caller, sizeBytes);
  try {
    const bytes = read();
    if (bytes === undefined) throw new Refusal({ kind: 'not_found', what: 'the file was deleted here' });
    return {
      status: 200,
      headers: {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': 'attachment',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'Cache-Control': 'no-store',
      },
      body: { bytesTotal: bytes.length, read: (offset) => bytes.subarray(offset), close },
    };
  } catch (error) {
    close();
    throw error;
  }
}
