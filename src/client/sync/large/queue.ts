/** Owns which large files wait for their turn on the line, or are on it, while small ones go on. */
import { limits } from '../../../limits/service.ts';
import type { FolderPath } from '../folder/path.ts';
import { Portion } from '../portion.ts';

const BYTES = {
  first: limits.clientPortionBytes,
  min: limits.clientPortionBytesMin,
  max: limits.clientPushBytes,
};

export class LargeQueue {
  /** Bytes in one request; what is larger has a request of its own, beside the others. */
  readonly upload = new Portion(BYTES);
  readonly download = new Portion(BYTES);
  /** Small ones first. */
  readonly uploads = new Set<FolderPath>();
  /** Bytes by path. */
  readonly downloads = new Map<FolderPath, number>();
  /** On the line now. */
  readonly uploading = new Set<FolderPath>();
  readonly downloading = new Set<FolderPath>();

  /** Whether a file is on its way to the hub, so that nothing else is said of it. */
  isGoing(path: FolderPath): boolean {
    return this.uploads.has(path) || this.uploading.has(path);
  }

  isComing(path: FolderPath): boolean {
    return this.downloads.has(path) || this.downloading.has(path);
  }
}
