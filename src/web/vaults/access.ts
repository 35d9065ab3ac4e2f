/** Owns whose vault a page may look at, and how bytes of a vault leave for the reader's disk. */
import { Refusal } from '../../common/fault.ts';
import type { Shares } from '../../common/shares.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Sync } from '../../sync/service.ts';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import type { Renderer } from '../rendering/renderer.tsx';

export interface VaultOptions extends Pick<Capabilities, 'sync'> {
  readonly pages: Pages;
  readonly renderer: Renderer;
  /** What downloads from pages may hold together. */
  readonly downloads: Shares;
}

/** A vault of this account. Refuses with `not_found`, one of another account as one that is not there. */
export function vaultOf({ vaults }: Sync, accountId: string, id: string | undefined): VaultState {
  const found = vaults.list(accountId).find((vault) => vault.id === id);
  if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'vault not found' });
  return found;
}

/**
 * Bytes to keep, never to be shown by the browser itself: they may be markup. They are read whole, since they are stored in
 * another form, so what all readers hold is bounded. Refuses with `overloaded`, and with `not_found` when there are none.
 */
export function attachment(
  options: Pick<VaultOptions, 'downloads'>,
  visit: Pick<MemberVisit, 'request'>,
  sizeBytes: number,
  read: () => Uint8Array | undefined,
): Reply {
  const found = () => {
    const bytes = read();
    if (bytes === undefined) throw new Refusal({ kind: 'not_found', what: 'this file was deleted' });
    return { bytes, type: 'application/octet-stream' };
  };
  return bytesReply(options, visit, { sizeBytes, disposition: 'attachment' }, found);
}

/** As `attachment`, of an image for our own pages to show: of a type that runs nothing, and in a sandbox where it is opened alone. */
export function picture(
  options: Pick<VaultOptions, 'downloads'>,
  visit: Pick<MemberVisit, 'request'>,
  sizeBytes: number,
  read: () => Typed,
): Reply {
  return bytesReply(options, visit, { sizeBytes, disposition: 'inline' }, read);
}

interface Typed {
  readonly bytes: Uint8Array;
  readonly type: string;
}

function bytesReply(
  { downloads }: Pick<VaultOptions, 'downloads'>,
  { request }: Pick<MemberVisit, 'request'>,
  { sizeBytes, disposition }: { readonly sizeBytes: number; readonly disposition: 'attachment' | 'inline' },
  read: () => Typed,
): Reply {
  const close = downloads.take(request.caller, sizeBytes);
  try {
    const { bytes, type } = read();
    return {
      status: 200,
      headers: {
        'Content-Type': type,
        'Content-Disposition': disposition,
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Cache-Control': 'no-store',
      },
      body: { bytesTotal: bytes.length, read: (offset) => bytes.subarray(offset), close },
    };
  } catch (error) {
    close();
    throw error;
  }
}
