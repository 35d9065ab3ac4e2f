/** Builds the arguments of a push for one file of the folder. */
import { isUtf8 } from 'node:buffer';
import { limits } from '../../../limits/service.ts';
import type { Content } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushCall } from '../hub.ts';
import type { Replica } from '../replica.ts';

/** Fields of a file sent by a push. */
export type Sent = Pick<Content, 'bytes' | 'sha256' | 'modifiedMs' | 'executable'>;

/** Arguments of a guarded push. `base`: hash of its base version, empty for none; without content it is a delete. */
export function pushCall(
  { state }: Pick<Replica, 'state'>,
  path: FolderPath,
  content: Sent | undefined,
  base: string,
): PushCall {
  const nowMs = Date.now();
  const head = { path, hlc: state.tick(nowMs), device_id: state.device_id, base_sha: base };
  if (content === undefined) return { ...head, deleted: true };
  return { ...head, ...lookOf(content, nowMs), sha256: content.sha256, ...sentContent(content) };
}

/** The content of a push. The list of a large file is added when its chunks are sent. */
function sentContent({ bytes }: Sent) {
  return bytes === undefined ? { encoding: 'chunks' as const } : encodedContent(bytes);
}

/** Arguments that move a file without its bytes; `base` is their hash. */
export function moveCall(
  { state }: Pick<Replica, 'state'>,
  paths: { readonly from: FolderPath; readonly to: FolderPath },
  look: Pick<Sent, 'executable' | 'modifiedMs'>,
  base: string,
): PushCall {
  const nowMs = Date.now();
  const head = { path: paths.to, from_path: paths.from, device_id: state.device_id, base_sha: base };
  return { ...head, hlc: state.tick(nowMs), ...lookOf(look, nowMs) };
}

function lookOf({ executable, modifiedMs }: Pick<Sent, 'executable' | 'modifiedMs'>, nowMs: number) {
  // Without the bit, the hub keeps the current one.
  const bit = executable === undefined ? {} : { executable };
  return { mtime: isoOf(modifiedMs, nowMs), ...bit };
}

/** The text of UTF-8 bytes; undefined when they are not text, or those of a large file. */
export function utf8TextOf(bytes: Buffer | undefined): string | undefined {
  return bytes !== undefined && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

export function encodedContent(bytes: Buffer): { readonly content: string; readonly encoding?: 'base64' } {
  const text = utf8TextOf(bytes);
  if (text === undefined || isTooLong(text)) return { content: bytes.toString('base64'), encoding: 'base64' };
  return { content: text };
}

/** The most bytes of any file in base64, which a hub takes. */
const ENCODED_BYTES_MAX = (limits.fileBytesMax / 3) * 4;
/** JSON (RFC 8259) writes a control character of one byte as `\u0000`. */
const ESCAPE_BYTES_MAX = 6;

/** True when the escapes of a text make it longer in JSON than the longest file: zeros, control sequences. */
function isTooLong(text: string): boolean {
  const mayBe = text.length * ESCAPE_BYTES_MAX > ENCODED_BYTES_MAX;
  return mayBe && Buffer.byteLength(JSON.stringify(text)) > ENCODED_BYTES_MAX;
}

/** A time in the hub's format. Disks may contain times outside the calendar; these become the current time. */
function isoOf(ms: number, nowMs: number): string {
  const isOrdinary = ms >= 0 && ms < 253_402_300_800_000;
  return new Date(isOrdinary ? ms : nowMs).toISOString();
}
