/**
 * Decides what happens to bytes that the hub does not accept under their own name. One rule: any content that stood
 * still here reaches the hub under its name or as a conflict copy, or is listed for the user with a reason. Pure.
 */
import { foldCase } from '../../../text/fold-case.ts';
import type { ToolRefused } from '../../tool-refused.ts';
import { dividedName, entryNameOf, type FolderPath, parentsOf } from '../folder/path.ts';

export type Fate =
  /** The hub stores the bytes as a pending conflict; the user chooses a side. */
  | { readonly kind: 'pending'; readonly conflictId: string }
  /** The name is taken by another entry: the file here, or the folder around it, becomes a conflict copy. */
  | { readonly kind: 'copy'; readonly from: FolderPath; readonly why: string }
  /** Only the user can fix the cause: the size, the quota, or a name that no hub accepts. */
  | { readonly kind: 'listed' };

const FULL = 'too many conflicts are pending at this path';
const TAKEN = 'another file or folder has this name on the hub';
/** Maximum bytes of a name on common disks. */
const NAME_BYTES_MAX = 255;
const PATH_BYTES_MAX = 1024;
/** A longer suffix is part of the name and not a file extension. */
const TYPE_BYTES_MAX = 16;
/** Suffixes of earlier conflict copies, in any case: a new one replaces them, so that copies of copies have one. */
const MARKS = /(?: \(conflict [^()]*\))+$/i;

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

export interface CopyMark {
  readonly device: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Counts from 1; each attempt produces a different name. */
  readonly attempt: number;
}

/** Name of a conflict copy: `notes (conflict laptop-1a2b3c4d 2026-11-22 013000).md`, with the time in UTC. */
export function conflictName(path: FolderPath, { device, nowMs, attempt }: CopyMark): FolderPath {
  const [folder, stem, type] = partsOf(path);
  const time = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '');
  const end = ` (conflict ${device} ${time}${attempt > 1 ? ` ${attempt}` : ''})${type}`;
  const kept = shortened(stem.replace(MARKS, ''), NAME_BYTES_MAX - Buffer.byteLength(end));
  const isTooLong = Buffer.byteLength(folder + kept + end) > PATH_BYTES_MAX;
  return `${isTooLong ? '' : folder}${kept}${end}`.normalize('NFC') as FolderPath;
}

/** The file of which a conflict copy is a copy; undefined for any other file. */
export function originalOf(path: FolderPath): FolderPath | undefined {
  const [folder, stem, type] = partsOf(path);
  const kept = stem.replace(MARKS, '');
  return kept === stem || kept === '' ? undefined : (`${folder}${kept}${type}` as FolderPath);
}

/** The copies of a file among these paths, in any spelling, without the newest `kept`: their names end in their time. */
export function oldestCopies(paths: Iterable<FolderPath>, of: FolderPath, kept: number): FolderPath[] {
  const name = foldCase(of);
  const copies = [...paths].filter((path) => /\(conflict /i.test(path) && foldCase(originalOf(path) ?? '') === name);
  const timed = copies.map((path) => ({ path, time: TIME.exec(path)?.[0] ?? '' }));
  timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return timed.slice(0, Math.max(0, timed.length - kept)).map(({ path }) => path);
}

/** Folder with its slash, name without its type, and type with its dot. */
function partsOf(path: string): [string, string, string] {
  const name = entryNameOf(path);
  const folder = path.slice(0, path.length - name.length);
  const [stem, type] = dividedName(name);
  return Buffer.byteLength(type) <= TYPE_BYTES_MAX ? [folder, stem, type] : [folder, name, ''];
}

/** The beginning of a name, limited to this number of UTF-8 bytes. */
function shortened(text: string, bytesMax: number): string {
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    kept += character;
  }
  return kept;
}
