/** Checks access to vaults, and sends their bytes for download or display. */
import { Refusal } from '../../common/fault.ts';
import type { Shares } from '../../common/shares.ts';
import type { ByteSource } from '../../http/reply/body.ts';
import { type Reply, stream } from '../../http/reply/reply.ts';
import type { Sync } from '../../sync/service.ts';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import type { Capabilities } from '../capabilities.ts';
import { downloadHeaders, savedAs } from '../download-headers.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import type { Renderer } from '../rendering/renderer.tsx';
import { nameOf } from './paths.ts';

export interface VaultOptions extends Pick<Capabilities, 'sync'> {
  readonly pages: Pages;
  readonly renderer: Renderer;
  /** Limits the memory used by downloads from pages. */
  readonly downloads: Shares;
}

/** A vault of this account. Throws Refusal `not_found`, also for a vault of another account. */
export function vaultOfVisit({ vaults }: Sync, accountId: string, id: string | undefined): VaultState {
  const found = vaults.list(accountId).find((vault) => vault.id === id);
  if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'vault not found' });
  return found;
}

/**
 * Bytes to download, never displayed by the browser, because they may be markup. Stored content is encoded, so it is
 * read whole; a limit bounds the memory of all readers. Throws Refusal `overloaded`, or `not_found` when the content is
 * deleted.
 */
export function attachment(
  options: Pick<VaultOptions, 'downloads'>,
  visit: Pick<MemberVisit, 'request'>,
  { path, sizeBytes }: { readonly path: string; readonly sizeBytes: number },
  read: () => Uint8Array | undefined,
): Reply {
  const found = () => {
    const bytes = read();
    if (bytes === undefined) throw new Refusal({ kind: 'not_found', what: 'this file was deleted' });
    return { bytes, type: 'application/octet-stream' };
  };
  return bytesReply(options, visit, { sizeBytes, disposition: savedAs(nameOf(path)) }, found);
}

/** A large file to download, read while it is sent: one piece of it is in memory at a time. */
export function download(path: string, source: ByteSource): Reply {
  const headers = downloadHeaders('application/octet-stream', savedAs(nameOf(path)));
  return stream(200, source, { ...headers, 'Cross-Origin-Resource-Policy': 'same-origin' });
}

/**
 * Like `attachment`, for an image shown on our pages: its type cannot run code, and it is sandboxed if opened alone.
 */
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
  { sizeBytes, disposition }: { readonly sizeBytes: number; readonly disposition: string },
  read: () => Typed,
): Reply {
  const close = downloads.take(request.caller, sizeBytes);
  try {
    const { bytes, type } = read();
    return {
      status: 200,
      headers: { ...downloadHeaders(type, disposition), 'Cross-Origin-Resource-Policy': 'same-origin' },
      body: { bytesTotal: bytes.length, read: (offset) => bytes.subarray(offset), close },
    };
  } catch (error) {
    close();
    throw error;
  }
}
