/** Owns which large files wait for their turn on the line, or are on it, while small ones go on. */
import type { FolderPath } from '../folder/path.ts';
import { Portion } from './portion.ts';

export class LargeQueue {
  readonly upload = new Portion();
  readonly download = new Portion();
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
