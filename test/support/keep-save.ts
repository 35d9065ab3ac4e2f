/** Keeps a save in a synced folder, as a watch does while a sync is slow. */
import { sha256Of } from '../../src/client/sync/folder/file.ts';
import type { FolderPath } from '../../src/client/sync/folder/path.ts';
import { Saves } from '../../src/client/sync/folder/saves.ts';
import type { SyncedFolder } from './synced-folder.ts';

interface Kept {
  readonly path: string;
  readonly text: string;
  /** The text of the version that it is based on; empty: there is none. Null: not known. */
  readonly base: string | null;
  readonly executable?: boolean;
}

/** Returns the name of the copy. */
export function keepSave(machine: SyncedFolder, { path, text, base, executable }: Kept): string | undefined {
  const bytes = Buffer.from(text);
  const content = { bytes, sha256: sha256Of(bytes), executable, modifiedMs: Date.now() };
  const baseSha = base === null || base === '' ? base : sha256Of(Buffer.from(base));
  return new Saves(machine.at('.cairn')).keep(path as FolderPath, content, baseSha).name;
}
