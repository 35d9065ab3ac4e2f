/** Decides what to push, from a scan and the base record: changes, moves, deletes, and paths that have to wait. */
import { decidePush } from '../decide.ts';
import type { LocalFile } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../folder/scan.ts';
import { respelledHere } from '../spelling.ts';
import type { SyncState } from '../state.ts';

export interface PushPlan {
  /** New name to former name of files moved or respelled; their bytes may have changed as well. */
  readonly moves: ReadonlyMap<FolderPath, FolderPath>;
  /** Files to push, small ones first, so that none waits for a large one. */
  readonly puts: readonly FolderPath[];
  readonly deletes: readonly FolderPath[];
  /** Deletes that need the user's confirmation. */
  readonly held: readonly FolderPath[];
}

export interface PlanOptions {
  /** Deletes need no confirmation, whatever their number. */
  readonly allowDeletes: boolean;
  /** The folder is not the one of the previous sync. */
  readonly isOtherRoot: boolean;
  /** New names whose move the hub refused; they are pushed as new files. */
  readonly unmovable: ReadonlySet<FolderPath>;
  /** True when another entry has the name of a missing file, or of a folder in its path. */
  readonly isReplaced: (path: FolderPath) => boolean;
  /** True when a file is already being uploaded. */
  readonly isGoing: (path: FolderPath) => boolean;
  /** True when a changed file is sent later, since a program is writing to it. */
  readonly isRestless: (path: FolderPath, file: LocalFile) => boolean;
  /** Hashes of files whose copy on the hub is damaged: the same content is sent again. */
  readonly damaged: ReadonlyMap<FolderPath, string>;
}

export function planPush(local: Scan, state: SyncState, options: PlanOptions): PushPlan {
  const { files, leavesOut } = local;
  const respelled = new Map(
    [...respelledHere(local, state)].filter((names) => !names.some((path) => options.isGoing(path))),
  );
  const former = new Set(respelled.values());
  const changed = [...new Set([...files.keys(), ...state.base.keys()])].filter((path) => {
    const here = files.get(path);
    const base = state.base.get(path);
    if (former.has(path) || options.isGoing(path) || leavesOut(path)) return false;
    if (here !== undefined && here.sha256 === options.damaged.get(path)) return true;
    const isOther = decidePush(here?.sha256, base?.sha256) !== undefined || isNewlyExecutable(here, base);
    if (!isOther || mustWait(state, path, here?.sha256)) return false;
    return here === undefined || !options.isRestless(path, here);
  });
  const gone = changed.filter((path) => !files.has(path));
  const moved = movesOf(gone, changed, local, state, options);
  const movedFrom = new Set(moved.values());
  const deleted = gone.filter((path) => !movedFrom.has(path));
  const replaced = deleted.filter(options.isReplaced);
  const lost = deleted.filter((path) => !replaced.includes(path));
  const isMass = lost.length * 2 > state.base.size || options.isOtherRoot;
  const held = isMass && !options.allowDeletes ? lost : [];
  const size = (path: FolderPath) => files.get(path)?.seen.bytes ?? 0;
  return {
    moves: new Map([...respelled, ...moved]),
    puts: changed.filter((path) => files.has(path) && !moved.has(path)).sort((a, b) => size(a) - size(b)),
    deletes: held.length > 0 ? replaced : deleted,
    held,
  };
}

/** True when a path waits for the user, or its unchanged content was refused: it is not sent again. */
function mustWait({ waits }: SyncState, path: FolderPath, sha256: string | undefined): boolean {
  const wait = waits.get(path);
  return wait !== undefined && (wait.kind !== 'push' || wait.local === (sha256 ?? null));
}

function isNewlyExecutable(
  here: { readonly executable: boolean | undefined } | undefined,
  base: { readonly executable?: boolean | undefined } | undefined,
): boolean {
  const [now, before] = [here?.executable, base?.executable];
  return now !== undefined && before !== undefined && now !== before;
}

/** Pairs new files with missing ones of the same bytes: each is a move. Excludes empty files, which are all equal. */
function movesOf(
  gone: readonly FolderPath[],
  changed: readonly FolderPath[],
  { files }: Scan,
  { base }: SyncState,
  { unmovable, isReplaced }: PlanOptions,
): Map<FolderPath, FolderPath> {
  const bySha = new Map<string, FolderPath[]>();
  for (const path of gone) {
    const sha256 = base.get(path)?.sha256 ?? '';
    if (isReplaced(path)) continue;
    bySha.set(sha256, [...(bySha.get(sha256) ?? []), path]);
  }
  const moves = new Map<FolderPath, FolderPath>();
  for (const path of changed) {
    const here = files.get(path);
    if (here === undefined || here.seen.bytes === 0 || base.has(path) || unmovable.has(path)) continue;
    const from = nearest(path, bySha.get(here.sha256) ?? []);
    if (from === undefined) continue;
    bySha.set(here.sha256, bySha.get(here.sha256)?.filter((other) => other !== from) ?? []);
    moves.set(path, from);
  }
  return moves;
}

/** Of several files with the same bytes, prefers the one with the same name, as after the rename of a folder. */
function nearest(path: FolderPath, candidates: readonly FolderPath[]): FolderPath | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return candidates.find((other) => other.slice(other.lastIndexOf('/') + 1) === name) ?? candidates[0];
}
