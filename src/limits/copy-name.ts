/** What a conflict copy of a file is called beside it, and what a name on a disk may hold: clients and the hub name copies alike. Pure. */

/** Maximum bytes of a name on common disks. */
const NAME_BYTES_MAX = 255;
/** A longer suffix is part of the name and not a file extension. */
const TYPE_BYTES_MAX = 16;
/** Suffixes of earlier conflict copies, in any case: a new one replaces them, so that copies of copies have one. */
const MARKS = /(?: \(conflict [^()]*\))+$/i;

export interface CopyMark {
  readonly device: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Counts from 1; each attempt produces a different name. */
  readonly attempt: number;
}

/** The name of a conflict copy: `notes (conflict laptop-1a2b3c4d 2026-11-22 013000).md`, with the time in UTC. */
export function copyName(name: string, { device, nowMs, attempt }: CopyMark): string {
  const [stem, type] = partsOf(name);
  const time = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '');
  const end = ` (conflict ${device} ${time}${attempt > 1 ? ` ${attempt}` : ''})${type}`;
  return `${shortened(stem.replace(MARKS, ''), NAME_BYTES_MAX - Buffer.byteLength(end))}${end}`;
}

/** The name of the file of which this is a conflict copy; undefined for any other name. */
export function originalName(name: string): string | undefined {
  const [stem, type] = partsOf(name);
  const kept = stem.replace(MARKS, '');
  return kept === stem || kept === '' ? undefined : `${kept}${type}`;
}

/** Divides a name before its last dot: `plan.png` is `plan` and `.png`. A name that begins with its only dot has no ending. */
export function dividedName(name: string): readonly [stem: string, ending: string] {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
}

/** Name without its type, and type with its dot. */
function partsOf(name: string): readonly [stem: string, type: string] {
  const [stem, type] = dividedName(name);
  return Buffer.byteLength(type) <= TYPE_BYTES_MAX ? [stem, type] : [name, ''];
}

/** The beginning of a text, limited to this number of UTF-8 bytes. */
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
