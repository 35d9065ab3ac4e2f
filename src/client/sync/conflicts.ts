/**
 * Owns paths that changed on both sides: a merge without a doubt is taken, anything else waits for the user while the hub
 * keeps both sides. Settling one is the user's word, never a clock's.
 */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { ToolRefused } from '../tool-refused.ts';
import { applyRemote, type RemoteSide } from './apply.ts';
import { type Content, readContent, writeContent } from './files.ts';
import { pushArguments } from './push-arguments.ts';
import { agree, type SyncSession, save } from './session.ts';
import { settleWaitingNames } from './spelling.ts';
import type { WaitingConflict } from './state.ts';

const mergeSchema = z.object({ content: z.string(), has_conflicts: z.boolean(), base_sha: z.string() });
const currentSchema = z.object({
  content: z.string(),
  sha256: z.string(),
  encoding: z.enum(['utf-8', 'base64']).optional(),
});
/** JSON-RPC code of a path that is not there. */
const NOT_FOUND = -32005;

export type Keep = 'mine' | 'theirs' | 'merge';

/** Looks again at what waits, where either side has moved since. */
export async function retryWaiting(session: SyncSession): Promise<void> {
  const { folder, state } = session;
  for (const [path, waiting] of Object.entries(state.conflicts)) {
    const local = readContent(folder, path);
    const remote = await currentOf(session, path);
    if (applyRemote(session, path, local, remote) === 'done') continue;
    const isAsBefore = same(waiting, local, remote);
    state.conflicts[path] = {
      ...waiting,
      remote_sha256: remote?.sha256 ?? null,
      local_sha256: local?.sha256 ?? null,
      conflict_id: isAsBefore ? waiting.conflict_id : null,
    };
    if (!isAsBefore) await reconcile(session, path);
  }
  save(session);
}

/** Merges, or leaves the path to the user and our side with the hub. */
export async function reconcile(session: SyncSession, path: string): Promise<void> {
  const { folder, state, tell } = session;
  const waiting = state.conflicts[path];
  if (waiting === undefined) return;
  const mine = readContent(folder, path);
  if (await tryMerge(session, path, mine)) return;
  const id = mine === undefined ? undefined : await keepOnHub(session, path, mine);
  state.conflicts[path] = { ...waiting, local_sha256: mine?.sha256 ?? null, conflict_id: id ?? waiting.conflict_id };
  tell({ verb: 'conflict', path, note: waiting.reason });
}

/** Settles a path by the user's word. Throws ClientError when nothing waits there, or it moved meanwhile. */
export async function resolveConflict(session: SyncSession, path: string, keep: Keep): Promise<void> {
  const { folder, state, tell } = session;
  settleWaitingNames(session);
  const waiting = state.conflicts[path];
  if (waiting === undefined) throw new ClientError(`${path} waits for nothing; cairn sync status lists what does.`);
  const mine = readContent(folder, path);
  const remote = await currentOf(session, path);
  if (keep === 'mine') await keepMine(session, path, waiting, mine, remote);
  else if (keep === 'theirs') await keepTheirs(session, path, waiting, mine, remote);
  else await writeMarkers(session, path, mine, remote);
  save(session);
  if (keep !== 'merge') tell({ verb: keep === 'mine' ? 'pushed' : 'pulled', path, note: `settled: ${keep}` });
}

async function keepMine(
  session: SyncSession,
  path: string,
  { conflict_id: id }: WaitingConflict,
  mine: Content | undefined,
  remote: RemoteSide | undefined,
): Promise<void> {
  const { hub, state } = session;
  const args = pushArguments(session, path, mine, remote?.sha256 ?? '');
  const [outcome] = await hub.push([{ ...args, ...(id === null ? {} : { resolves: id }) }]);
  if (outcome instanceof ToolRefused) throw outcome;
  agree(state, path, mine === undefined ? undefined : { sha256: mine.sha256 });
}

async function keepTheirs(
  session: SyncSession,
  path: string,
  { conflict_id: id }: WaitingConflict,
  mine: Content | undefined,
  remote: RemoteSide | undefined,
): Promise<void> {
  const { hub, state } = session;
  // Seen from here both sides agree on ours, so that only theirs has changed.
  agree(state, path, mine === undefined ? undefined : { sha256: mine.sha256 });
  const applied = applyRemote(session, path, mine, remote);
  if (applied !== 'done') {
    const why = applied === 'both changed' ? 'it changed this moment; run the command again' : applied.unwritable;
    throw new ClientError(`${path} cannot be written: ${why}.`);
  }
  if (id !== null) await hub.call('sync_resolve_conflict', { conflict_id: id, keep: 'theirs' });
}

/** Puts both sides into the file, with markers as git's; the user edits it and then keeps mine. */
async function writeMarkers(
  session: SyncSession,
  path: string,
  mine: Content | undefined,
  remote: RemoteSide | undefined,
): Promise<void> {
  const { folder, state, tell } = session;
  const text = mine && textOf(mine.bytes);
  if (mine === undefined || text === undefined || remote === undefined || textOf(remote.bytes) === undefined) {
    throw new ClientError(`${path} is no text on both sides; choose --keep mine or --keep theirs.`);
  }
  const merged = await mergeOnHub(session, path, text, state.base[path]?.sha256);
  if (writeContent(folder, path, Buffer.from(merged.content), mine.sha256) === false) {
    throw new ClientError(`${path} changed this moment; run the command again.`);
  }
  tell({
    verb: 'merged',
    path,
    note: `both sides are in the file; edit it, then: cairn sync resolve ${path} --keep mine`,
  });
}

/** True when both sides went together without a conflict; the merged file is pushed like any change. */
async function tryMerge(session: SyncSession, path: string, mine: Content | undefined): Promise<boolean> {
  const { folder, state, tell } = session;
  const base = state.base[path]?.sha256;
  const text = mine && textOf(mine.bytes);
  if (mine === undefined || text === undefined || base === undefined) return false;
  if (state.conflicts[path]?.remote_sha256 === null) return false;
  const merged = await mergeOnHub(session, path, text, base);
  if (merged.has_conflicts) return false;
  const written = writeContent(folder, path, Buffer.from(merged.content), mine.sha256);
  if (written === false) return false;
  agree(state, path, { sha256: merged.base_sha });
  tell({ verb: 'merged', path, note: 'changed on both sides, in different places' });
  return true;
}

async function mergeOnHub({ hub }: SyncSession, path: string, content: string, base: string | undefined) {
  const args = { path, content, ...(base === undefined ? {} : { base_sha: base }) };
  return mergeSchema.parse((await hub.call('sync_merge', args)).structured);
}

/** Pushes our side on top of the base that it was made on; the hub refuses it and keeps it. Its conflict's id, if it did. */
async function keepOnHub(session: SyncSession, path: string, mine: Content): Promise<string | undefined> {
  const [outcome] = await session.hub.push([
    pushArguments(session, path, mine, session.state.base[path]?.sha256 ?? ''),
  ]);
  const id = outcome instanceof ToolRefused ? outcome.data['conflict_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

async function currentOf({ hub }: SyncSession, path: string): Promise<RemoteSide | undefined> {
  try {
    const { content, sha256, encoding } = currentSchema.parse((await hub.call('sync_pull', { path })).structured);
    return { sha256, bytes: Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8') };
  } catch (error) {
    if (error instanceof ToolRefused && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}

function same(waiting: WaitingConflict, local: Content | undefined, remote: RemoteSide | undefined): boolean {
  return waiting.local_sha256 === (local?.sha256 ?? null) && waiting.remote_sha256 === (remote?.sha256 ?? null);
}

/** The text that bytes are in UTF-8; undefined: they are none. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Told by the answer.
    return undefined;
  }
}
