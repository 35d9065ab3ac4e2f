/** Names the second file when both sides of a conflict are kept. Pure. */
import { checkPath, type VaultPath } from '../log/paths.ts';

/** Maximum bytes of a name on common disks. */
const NAME_BYTES_MAX = 255;
/** A longer suffix is part of the name and not a file extension. */
const TYPE_BYTES_MAX = 16;
const DEVICE_CHARS_MAX = 40;
/** What a name cannot hold on every system, and what ends the mark. */
const NOT_IN_NAMES = /[\p{Cc}()<>:"/\\|?*]/gu;

export interface CopyOf {
  /** Of the file on which both sides are. */
  readonly path: string;
  readonly deviceId: string;
  /** Milliseconds since 1970, shown in UTC. */
  readonly nowMs: number;
  /** Counts from 1; each gives another name. */
  readonly attempt: number;
}

/** `notes (conflict laptop 2026-11-22 013000).md`, as clients name their copies. Throws Refusal `invalid_fields` for a name that is too long. */
export function copyPath({ path, deviceId, nowMs, attempt }: CopyOf): VaultPath {
  const at = path.lastIndexOf('/') + 1;
  const name = path.slice(at);
  const dot = name.lastIndexOf('.');
  const isType = dot > 0 && Buffer.byteLength(name.slice(dot)) <= TYPE_BYTES_MAX;
  const [stem, type] = isType ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const time = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '');
  const device = deviceId.replaceAll(NOT_IN_NAMES, '-').slice(0, DEVICE_CHARS_MAX).toWellFormed();
  const end = ` (conflict ${device} ${time}${attempt > 1 ? ` ${attempt}` : ''})${type}`;
  return checkPath(`${path.slice(0, at)}${shortened(stem, NAME_BYTES_MAX - Buffer.byteLength(end))}${end}`);
}

/** The first characters of a text, as whole code points. */
function shortened(text: string, bytesMax: number): string {
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytesMax) break;
    kept += character;
  }
  return kept;
}
