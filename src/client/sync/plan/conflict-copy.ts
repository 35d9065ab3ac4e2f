/**
 * Decides what happens to bytes that the hub does not accept under their own name. One rule: any content that stood
 * still here reaches the hub under its name or as a conflict copy, or is listed for the user with a reason. Pure.
 */
import { type CopyMark, copyName, originalName } from '../../../limits/copy-name.ts';
import { foldCase } from '../../../text/fold-case.ts';
import type { ToolRefused } from '../../tool-refused.ts';
import { entryNameOf, type FolderPath, parentsOf } from '../folder/path.ts';

export type Fate =
  /** The hub stores the bytes as a pending conflict; the user chooses a side. */
  | { readonly kind: 'pending'; readonly conflictId: string }
  /** The name is taken by another entry: the file here, or the folder around it, becomes a conflict copy. */
  | { readonly kind: 'copy'; readonly from: FolderPath; readonly why: string }
  /** Only the user can fix the cause: the size, the quota, or a name that no hub accepts. */
  | { readonly kind: 'listed' };

const FULL = 'too many conflicts are pending at this path';
const TAKEN = 'another file or folder has this name on the hub';
const PATH_BYTES_MAX = 1024;

/** The time in the mark of a copy, with the number of a further one in that second. */
const TIME = /\d{4}-\d\d-\d\d \d{6}(?: \d+)?(?=\)[^()]*$)/;

/** Decides what happens to a file whose push was refused. */
export function decideFate(path: FolderPath, { isConflict, data }: Pick<ToolRefused, 'isConflict' | 'data'>): Fate {
  const { conflict_id: conflictId, existing_path: existing } = data;
  if (isConflict) {
    // The path has the maximum number of pending conflicts, so the hub did not store this one.
    return typeof conflictId === 'string' ? { kind: 'pending', conflictId } : { kind: 'copy', from: path, why: FULL };
  }
  if (typeof existing !== 'string') return { kind: 'listed' };
  const folder = parentsOf(path).find((parent) => foldCase(parent) === foldCase(existing));
  return { kind: 'copy', from: (folder ?? path) as FolderPath, why: TAKEN };
}

/** Path of a conflict copy, beside its file; in the folder's root where that is too long. */
export function conflictName(path: FolderPath, mark: CopyMark): FolderPath {
  const [folder, name] = partsOf(path);
  const copy = copyName(name, mark);
  const isTooLong = Buffer.byteLength(folder + copy) > PATH_BYTES_MAX;
  return `${isTooLong ? '' : folder}${copy}`.normalize('NFC') as FolderPath;
}

/** The file of which a conflict copy is a copy; undefined for any other file. */
export function originalOf(path: FolderPath): FolderPath | undefined {
  const [folder, name] = partsOf(path);
  const original = originalName(name);
  return original === undefined ? undefined : (`${folder}${original}` as FolderPath);
}

/** The copies of a file among these paths, in any spelling, without the newest `kept`: their names end in their time. */
export function oldestCopies(paths: Iterable<FolderPath>, of: FolderPath, kept: number): FolderPath[] {
  const name = foldCase(of);
  const copies = [...paths].filter((path) => /\(conflict /i.test(path) && foldCase(originalOf(path) ?? '') === name);
  const timed = copies.map((path) => ({ path, time: TIME.exec(path)?.[0] ?? '' }));
  timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return timed.slice(0, Math.max(0, timed.length - kept)).map(({ path }) => path);
}

/** Folder with its slash, and name. */
function partsOf(path: string): readonly [folder: string, name: string] {
  const name = entryNameOf(path);
  return [path.slice(0, path.length - name.length), name];
}
