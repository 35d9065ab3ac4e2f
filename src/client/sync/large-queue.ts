/** Queue of large files: waiting for a transfer or being transferred, while small files are synced. */
import { limits } from '../../limits/service.ts';
import type { FolderPath } from './folder/path.ts';
import { Portion } from './portion.ts';

const BYTES = {
  first: limits.clientPortionBytes,
  min: limits.clientPortionBytesMin,
  max: limits.clientPushBytes,
};

export class LargeQueue {
  /** Bytes per request; a larger file gets a separate request, parallel to the others. */
  readonly upload = new Portion(BYTES);
  readonly download = new Portion(BYTES);
  /** Queued uploads, small ones first. */
  readonly uploads = new Set<FolderPath>();
  /** Queued downloads: bytes by path. */
  readonly downloads = new Map<FolderPath, number>();
  readonly uploading = new Set<FolderPath>();
  readonly downloading = new Set<FolderPath>();
  /** Large contents that the hub refused to take in place of what is there: it decides on them at once. */
  readonly offered = new Set<string>();

  /** True when the file is queued or being uploaded; other decisions about it must wait. */
  isGoing(path: FolderPath): boolean {
    return this.uploads.has(path) || this.uploading.has(path);
  }

  isComing(path: FolderPath): boolean {
    return this.downloads.has(path) || this.downloading.has(path);
  }
}
