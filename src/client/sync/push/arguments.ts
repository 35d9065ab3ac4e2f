/** Owns how one file of the folder is named to the hub. */
import type { Content } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushArguments } from '../hub.ts';
import type { SyncSession } from '../session.ts';
import { tick } from '../state.ts';

/** What a push sends of a file. */
export type Sent = Pick<Content, 'bytes' | 'sha256' | 'modifiedMs'> & { readonly executable: boolean | undefined };

/** Arguments of a guarded push. `base`: the hash that it builds on, empty for no file; without content it is a delete. */
export function pushArguments(
  { state }: Pick<SyncSession, 'state'>,
  path: FolderPath,
  content: Sent | undefined,
  base: string,
): PushArguments {
  const nowMs = Date.now();
  const head = { path, hlc: tick(state, nowMs), device_id: state.device_id, base_sha: base };
  if (content === undefined) return { ...head, deleted: true };
  return { ...head, ...lookOf(content, nowMs), sha256: content.sha256, ...encoded(content.bytes) };
}

/** Arguments that move a file, whose bytes stay as they are: those with the hash `base`. */
export function moveArguments(
  { state }: Pick<SyncSession, 'state'>,
  paths: { readonly from: FolderPath; readonly to: FolderPath },
  look: Pick<Sent, 'executable' | 'modifiedMs'>,
  base: string,
): PushArguments {
  const nowMs = Date.now();
  const head = { path: paths.to, from_path: paths.from, device_id: state.device_id, base_sha: base };
  return { ...head, hlc: tick(state, nowMs), ...lookOf(look, nowMs) };
}

function lookOf({ executable, modifiedMs }: Pick<Sent, 'executable' | 'modifiedMs'>, nowMs: number) {
  // Windows has no such bit: then the hub keeps the one that it has.
  const bit = executable === undefined || process.platform === 'win32' ? {} : { executable };
  return { mtime: isoOf(modifiedMs, nowMs), ...bit };
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
