/** Copies what was saved here and stands still, where the sync under way is too slow to send it before the next save. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { lookAt } from '../folder/file.ts';
import { checkPath, type FolderPath, isBad } from '../folder/path.ts';
import type { SyncSession } from '../session.ts';

export class Keeper {
  readonly #session: SyncSession;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(session: SyncSession) {
    this.#session = session;
  }

  /** A file changed; absolute. */
  changed(absolute: string): void {
    const onDisk = relative(this.#session.folder.root.path, absolute);
    clearTimeout(this.#timers.get(onDisk));
    const keep = () => {
      this.#timers.delete(onDisk);
      this.#keep(onDisk);
    };
    this.#timers.set(onDisk, setTimeout(keep, limits.clientStillMs));
  }

  /** Files that differed from the hub's when they were looked at last. */
  begin(): void {
    const { scanned, state, folder } = this.#session;
    if (scanned === undefined) return;
    const open = [...scanned.files].filter(([path, { sha256 }]) => state.base.get(path)?.sha256 !== sha256);
    // So many are a first sync, not work of somebody.
    if (open.length > limits.clientPushFiles) return;
    for (const [path] of open) this.changed(folder.at(path));
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #keep(onDisk: string): void {
    const { folder, state, scanned } = this.#session;
    const path = checkPath(onDisk);
    if (isBad(path) || scanned === undefined || scanned.excludes(path) || existsSync(folder.own('paused'))) return;
    try {
      folder.root.check();
      const isSmall = (lookAt(folder.at(onDisk as FolderPath))?.size ?? 0) <= limits.fileBytesMax;
      // As it is spelled on the disk, whose Unicode form may be another one.
      const content = isSmall ? folder.read(onDisk as FolderPath) : undefined;
      if (content === undefined) return;
      const base = state.base.get(path)?.sha256;
      const wait = state.waits.get(path);
      const isOnHub = base === content.sha256 || (wait?.local === content.sha256 && wait.conflictId !== null);
      if (!isOnHub) folder.saves.keep(path, content, base ?? '');
    } catch {
      // The sync meets the same, and tells it: a file that cannot be read, a folder that is gone, a full disk.
    }
  }
}
