/**
 * Decides what becomes of bytes that cannot be on the hub under their own name. One rule: what stood still here reaches the
 * hub under its name, or under the name of a conflict copy, or is listed with the reason for the user. Pure.
 */
import { foldCase } from '../../text/fold-case.ts';
import type { ToolRefused } from '../tool-refused.ts';
import { type FolderPath, parentsOf } from './folder/path.ts';

export type Fate =
  /** The hub keeps the bytes as a pending conflict; the user chooses a side. */
  | { readonly kind: 'pending'; readonly conflictId: string }
  /** Something else has the name: the file here, or the folder that it is in, becomes a conflict copy. */
  | { readonly kind: 'copy'; readonly from: FolderPath; readonly why: string }
  /** Only the user can do something about it: the size, the quota, a name that no hub takes. */
  | { readonly kind: 'listed' };

const FULL = 'too many conflicts wait at this path';
const TAKEN = 'another file or folder has this name on the hub';
/** Bytes that a name may have on common disks. */
const NAME_BYTES_MAX = 255;
const PATH_BYTES_MAX = 1024;
/** Longer than this it is not a file type but a part of the name. */
const TYPE_BYTES_MAX = 16;
/** The mark of an earlier conflict copy, which another one replaces. */
const MARK = / \(conflict [^()]*\)$/;

/** What becomes of a file whose push was refused. */
export function decideFate(path: FolderPath, { isConflict, data }: Pick<ToolRefused, 'isConflict' | 'data'>): Fate {
  const { conflict_id: conflictId, existing_path: existing } = data;
  if (isConflict) {
    // As many conflicts as a path may have wait there already, so the hub did not keep this one.
    return typeof conflictId === 'string' ? { kind: 'pending', conflictId } : { kind: 'copy', from: path, why: FULL };
  }
  if (typeof existing !== 'string') return { kind: 'listed' };
  const folder = parentsOf(path).find((parent) => foldCase(parent) === foldCase(existing));
  return { kind: 'copy', from: (folder ?? path) as FolderPath, why: TAKEN };
}

export interface CopyMark {
  /** The name of this device. */
  readonly device: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** From 1; a higher one gives another name. */
  readonly attempt: number;
}

/** The name of a conflict copy: `notes (conflict laptop-1a2b3c4d 2026-11-22 013000).md`, the time in UTC. */
export function conflictName(path: FolderPath, { device, nowMs, attempt }: CopyMark): FolderPath {
  const at = path.lastIndexOf('/') + 1;
  const [folder, name] = [path.slice(0, at), path.slice(at)];
  const dot = name.lastIndexOf('.');
  const isTyped = dot > 0 && Buffer.byteLength(name.slice(dot)) <= TYPE_BYTES_MAX;
  const [stem, type] = isTyped ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const time = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '');
  const end = ` (conflict ${device} ${time}${attempt > 1 ? ` ${attempt}` : ''})${type}`;
  const kept = shortened(stem.replace(MARK, ''), NAME_BYTES_MAX - Buffer.byteLength(end));
  const isTooLong = Buffer.byteLength(folder + kept + end) > PATH_BYTES_MAX;
  return `${isTooLong ? '' : folder}${kept}${end}`.normalize('NFC') as FolderPath;
}

/** The beginning of a name, in so many bytes of UTF-8. */
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
