/** Owns how one file of the folder is said to the hub. */
import type { Content } from './files.ts';
import type { PushArguments } from './hub.ts';
import { statOf } from './scan.ts';
import type { SyncSession } from './session.ts';
import { tick } from './state.ts';

/** Arguments of a guarded push. `base`: the hash that it builds on, empty for no file; without content it is a delete. */
export function pushArguments(
  { folder, state }: SyncSession,
  path: string,
  content: Content | undefined,
  base: string,
): PushArguments {
  const nowMs = Date.now();
  const head = { path, hlc: tick(state, nowMs), device_id: state.device_id, base_sha: base };
  if (content === undefined) return { ...head, deleted: true };
  const mtime = new Date(statOf(folder, path)?.mtimeMs ?? nowMs).toISOString();
  return { ...head, mtime, sha256: content.sha256, ...encoded(content.bytes) };
}

function encoded(bytes: Buffer): { readonly content: string; readonly encoding?: 'base64' } {
  const text = bytes.toString('utf8');
  // What does not come back as it was is no UTF-8.
  return Buffer.from(text, 'utf8').equals(bytes)
    ? { content: text }
    : { content: bytes.toString('base64'), encoding: 'base64' };
}
