/** Brings the changes of the folder to the hub, each on top of the base it was made on. */
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { ToolRefused } from '../tool-refused.ts';
import { decidePush } from './decide.ts';
import { type Content, readContent } from './files.ts';
import type { PushArguments } from './hub.ts';
import { pushArguments } from './push-arguments.ts';
import type { Scan } from './scan.ts';
import { agree, type SyncSession, save, scan } from './session.ts';
import { respelledHere } from './spelling.ts';

export interface PushOptions {
  /** Deletes go up however many they are. */
  readonly allowDeletes: boolean;
}

interface Change {
  readonly path: string;
  /** The spelling that the hub has. */
  readonly from: string | undefined;
  readonly content: Content | undefined;
  readonly args: PushArguments;
}

/** Pushes what changed here. Resolves with true when the hub had changed meanwhile: pull, and push again. */
export async function pushChanges(session: SyncSession, { allowDeletes }: PushOptions): Promise<boolean> {
  const { state } = session;
  const local = scan(session, false);
  const respelled = respelledHere(local, state);
  const paths = changedPaths(session, local, respelled);
  if (!allowDeletes) refuseManyDeletes(session, local, paths);
  let hasMoved = false;
  let done = 0;
  for (const portion of portions(session, local, paths, respelled)) {
    const outcomes = await session.hub.push(portion.map(({ args }) => args));
    for (const [index, change] of portion.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof ToolRefused) hasMoved = refused(session, change.path, outcome) || hasMoved;
      else settle(session, local, change);
      done += 1;
      session.progress(done, paths.length);
    }
    save(session);
  }
  // The clock has moved on even where nothing was taken.
  if (state.clock.ms > 0) save(session);
  return hasMoved;
}

/** Paths that differ from their base; those that wait for the user are left out, and former names of others. */
function changedPaths(
  { state }: SyncSession,
  { files, leavesOut }: Scan,
  respelled: ReadonlyMap<string, string>,
): string[] {
  const paths = new Set([...files.keys(), ...Object.keys(state.base)]);
  const former = new Set(respelled.values());
  return [...paths]
    .filter((path) => state.conflicts[path] === undefined && !leavesOut(path) && !former.has(path))
    .filter((path) => decidePush(files.get(path)?.sha256, state.base[path]?.sha256) !== undefined)
    .sort();
}

/** An empty folder is rather a disk that is not there than a wish to delete everything everywhere. */
function refuseManyDeletes({ state, folder }: SyncSession, { files }: Scan, paths: readonly string[]): void {
  const deletes = paths.filter((path) => !files.has(path)).length;
  const most = Math.max(limits.clientDeletesMin, Object.keys(state.base).length / 2);
  if (deletes <= most) return;
  throw new ClientError(
    `${deletes} files are gone from ${folder}, more than half of all; if that is meant, run it again with --allow-deletes.`,
  );
}

/** Files are read one portion at a time: some of them, or some bytes. */
function* portions(
  session: SyncSession,
  { files }: Scan,
  paths: readonly string[],
  respelled: ReadonlyMap<string, string>,
): Generator<Change[]> {
  let portion: Change[] = [];
  let bytes = 0;
  for (const path of paths) {
    const content = files.has(path) ? readContent(session.folder, path) : undefined;
    // Gone since the scan: the next run sees that.
    if (files.has(path) && content === undefined) continue;
    const size = content?.bytes.length ?? 0;
    if (portion.length > 0 && (portion.length >= limits.clientPushFiles || bytes + size > limits.clientPushBytes)) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    const from = respelled.get(path);
    const args = pushArguments(session, path, content, session.state.base[from ?? path]?.sha256 ?? '');
    portion.push({ path, from, content, args: from === undefined ? args : { ...args, from_path: from } });
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}

function settle({ state, tell }: SyncSession, { files }: Scan, { path, from, content }: Change): void {
  const seen = files.get(path);
  if (from !== undefined) agree(state, from, undefined);
  if (content === undefined) agree(state, path, undefined);
  // What was pushed is what was read, which may be newer than the scan.
  else agree(state, path, seen?.sha256 === content.sha256 ? seen : { sha256: content.sha256 });
  tell({ verb: content === undefined ? 'deleted' : 'pushed', path });
}

/** True for a change that met another one; anything else the user is told. */
function refused({ tell }: SyncSession, path: string, refusal: ToolRefused): boolean {
  if (refusal.isConflict) return true;
  tell({ verb: 'problem', path, note: refusal.message });
  return false;
}
