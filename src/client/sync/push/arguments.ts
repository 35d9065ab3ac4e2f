/** Owns how one file of the folder is named to the hub. */
import type { Content } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushArguments } from '../hub.ts';
import type { SyncSession } from '../session.ts';
import { tick } from '../state.ts';

/** Arguments of a guarded push. `base`: the hash that it builds on, empty for no file; without content it is a delete. */
export function pushArguments(
  { state }: Pick<SyncSession, 'state'>,
  path: FolderPath,
  content: Pick<Content, 'bytes' | 'sha256' | 'modifiedMs'> | undefined,
  base: string,
): PushArguments {
  const nowMs = Date.now();
  const head = { path, hlc: tick(state, nowMs), device_id: state.device_id, base_sha: base };
  if (content === undefined) return { ...head, deleted: true };
  const mtime = isoOf(content.modifiedMs, nowMs);
  return { ...head, mtime, sha256: content.sha256, ...encoded(content.bytes) };
}

/** The text that bytes are in UTF-8; undefined: they are not text. */
export function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}

function encoded(bytes: Buffer): { readonly content: string; readonly encoding?: 'base64' } {
  const text = textOf(bytes);
  return text === undefined ? { content: bytes.toString('base64'), encoding: 'base64' } : { content: text };
}

/** A time in the form of the hub. A disk may have times that no calendar has: then it is now. */
function isoOf(ms: number, nowMs: number): string {
  const isOrdinary = ms >= 0 && ms < 253_402_300_800_000;
  return new Date(isOrdinary ? ms : nowMs).toISOString();
}
