/** Decides what to push, from a scan and the state: changes, moves, deletes, and paths that have to wait. Pure. */
import { groupedBy } from '../../../text/grouped-by.ts';
import type { BaseRecord, Sha, SyncState } from '../base/state.ts';
import type { LocalFile } from '../folder/folder.ts';
import { entryNameOf, type FolderPath } from '../folder/path.ts';
import type { Scan } from '../scan/scan.ts';
import { localChange } from './decide.ts';
import { type Allows, heldKinds, type Window } from './guard.ts';
import { respelledHere } from './names.ts';
import { restsUntilMs, type Sends } from './waits.ts';

export interface PushPlan {
  /** New name to former name of files moved or respelled; their bytes may have changed as well. */
  readonly moves: ReadonlyMap<FolderPath, FolderPath>;
  /** Files to push, small ones first, so that none waits for a large one. */
  readonly puts: readonly FolderPath[];
  readonly deletes: readonly FolderPath[];
  /** Deletes and rewrites that need the user's confirmation. */
  readonly held: readonly FolderPath[];
  /** When the first changed file to which a program keeps writing is sent; infinite when none waits for that. */
  readonly restsUntilMs: number;
}

export interface PlanOptions extends Allows {
  /** What was sent a short time ago. */
  readonly window: Window;
  /** True for a file that the window knows already: it counts once, and a new file does not count. */
  readonly isCounted: (path: FolderPath) => boolean;
  /** The folder is not the one of the previous sync. */
  readonly isOtherRoot: boolean;
  /** New names whose move the hub refused; they are pushed as new files. */
  readonly unmovable: ReadonlySet<FolderPath>;
  /** True when another entry has the name of a missing file, or of a folder in its path. */
  readonly isReplaced: (path: FolderPath) => boolean;
  /** True when a file is already being uploaded. */
  readonly isGoing: (path: FolderPath) => boolean;
  /** Hashes of files whose copy on the hub is damaged: the same content is sent again. */
  readonly damaged: ReadonlyMap<FolderPath, string>;
  /** Earlier sends of large files, which may have to rest. */
  readonly sends: Sends;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** The parts of a scan and of a state on which a plan depends. */
export interface LocalView extends Pick<Scan, 'leavesOut'> {
  readonly files: ReadonlyMap<FolderPath, LocalFile>;
}
export type StateView = Pick<SyncState, 'base' | 'waits'>;

/** True when the file of a path is not as both sides agreed, or its copy on the hub is damaged. */
export function mayBePushed(local: LocalView, { base }: StateView, damaged: PlanOptions['damaged']) {
  return (path: FolderPath): boolean => {
    const here = local.files.get(path);
    if (here !== undefined && here.sha256 === damaged.get(path)) return true;
    return isChanged(here, base.get(path)) && !local.leavesOut(path);
  };
}

/** `among`: the paths that may have changed; no other is looked at. */
export function planPush(
  local: LocalView,
  state: StateView,
  options: PlanOptions,
  among: Iterable<FolderPath>,
): PushPlan {
  const { files } = local;
  const { damaged, isGoing, isReplaced, sends, nowMs } = options;
  const paths = [...new Set(among)];
  const respelled = new Map([...respelledHere(local, state, paths)].filter((names) => !names.some(isGoing)));
  const former = new Set(respelled.values());
  const candidates = paths.filter((path) => !former.has(path) && !isGoing(path) && !local.leavesOut(path));
  const rests = new Map<FolderPath, number>();
  const changed = candidates.filter((path) => {
    const here = files.get(path);
    if (here !== undefined && here.sha256 === damaged.get(path)) return true;
    if (!isChanged(here, state.base.get(path)) || mustWait(state, path, here?.sha256)) return false;
    const dueMs = here && restsUntilMs(sends, path, here.seen, nowMs);
    if (dueMs !== undefined) rests.set(path, dueMs);
    return dueMs === undefined;
  });
  const gone = changed.filter((path) => !files.has(path));
  const moved = movesOf(gone, changed, local, state, options);
  const movedFrom = new Set(moved.values());
  const deleted = gone.filter((path) => !movedFrom.has(path));
  const replaced = new Set(deleted.filter(isReplaced));
  const lost = deleted.filter((path) => !replaced.has(path));
  const puts = changed.filter((path) => files.has(path) && !moved.has(path));
  const rewritten = puts.filter((path) => isRewritten(files.get(path)?.sha256, state.base.get(path)?.sha256));
  const fresh = (some: readonly FolderPath[]) => some.filter((path) => !options.isCounted(path));
  const more = { deleted: fresh(lost).length, rewritten: fresh(rewritten).length };
  const kinds = heldKinds(options.window, more, options);
  const isHeld = kinds.deletes || isMassDelete(lost.length, state.base.size, options);
  const heldDeletes = isHeld ? lost : [];
  const heldRewrites = new Set(kinds.rewrites ? fresh(rewritten) : []);
  const size = (path: FolderPath) => files.get(path)?.seen.bytes ?? 0;
  return {
    moves: new Map([...respelled, ...moved]),
    puts: puts.filter((path) => !heldRewrites.has(path)).sort((a, b) => size(a) - size(b)),
    deletes: heldDeletes.length > 0 ? [...replaced] : deleted,
    held: [...heldDeletes, ...heldRewrites],
    restsUntilMs: Math.min(...rests.values()),
  };
}

/** True when more than half of the files are gone, or the folder is another one, and the user has not confirmed that. */
function isMassDelete(lost: number, known: number, { allowDeletes, isOtherRoot }: PlanOptions): boolean {
  return !allowDeletes && (lost * 2 > known || isOtherRoot);
}

/** True when a file that both sides have got other bytes; sending a damaged one again is none. */
const isRewritten = (here: string | undefined, base: string | undefined) => base !== undefined && here !== base;

function isChanged(here: LocalFile | undefined, base: BaseRecord | undefined): boolean {
  return localChange(here?.sha256, base?.sha256) !== undefined || isNewlyExecutable(here?.executable, base?.executable);
}

/** Paths whose refused file has changed since or is gone: they wait no longer. */
export function refusedNoMore(local: LocalView, { waits }: StateView): FolderPath[] {
  return [...waits]
    .filter(([path, wait]) => wait.kind === 'push' && hashHere(local, path) !== wait.local)
    .map(([path]) => path);
}

/** Conflicts whose file changed again since the pull: compared again at once, so that the hub also gets these bytes. */
export function editedConflicts(local: LocalView, { waits }: StateView, isGoing: PlanOptions['isGoing']): FolderPath[] {
  return [...waits]
    .filter(([path, wait]) => wait.kind === 'conflict' && hashHere(local, path) !== wait.local)
    .map(([path]) => path)
    .filter((path) => !local.leavesOut(path) && !isGoing(path));
}

function hashHere({ files }: LocalView, path: FolderPath): Sha {
  return files.get(path)?.sha256 ?? null;
}

/** True when a path waits for the user, or its unchanged content was refused: it is not sent again. */
function mustWait({ waits }: StateView, path: FolderPath, sha256: string | undefined): boolean {
  const wait = waits.get(path);
  return wait !== undefined && (wait.kind !== 'push' || wait.local === (sha256 ?? null));
}

function isNewlyExecutable(now: boolean | undefined, before: boolean | undefined): boolean {
  return now !== undefined && before !== undefined && now !== before;
}

/** The files moved here since both sides agreed: former name to new name. `among`: the paths that may have changed. */
export function movedHere(
  local: LocalView,
  state: StateView,
  isReplaced: PlanOptions['isReplaced'],
  among: Iterable<FolderPath>,
): Map<FolderPath, FolderPath> {
  const changed = [...new Set(among)].filter((path) => !state.waits.has(path) && !local.leavesOut(path));
  const gone = changed.filter((path) => state.base.has(path) && !local.files.has(path));
  if (gone.length === 0) return new Map();
  const moves = movesOf(gone, changed, local, state, { unmovable: new Set(), isReplaced });
  return new Map([...moves].map(([path, from]) => [from, path]));
}

/** Pairs new files with missing ones of the same bytes: each is a move. Excludes empty files, which are all equal. */
function movesOf(
  gone: readonly FolderPath[],
  changed: readonly FolderPath[],
  { files }: LocalView,
  { base }: StateView,
  { unmovable, isReplaced }: Pick<PlanOptions, 'unmovable' | 'isReplaced'>,
): Map<FolderPath, FolderPath> {
  const free = gone.filter((path) => !isReplaced(path));
  const bySha = groupedBy(free, (path) => base.get(path)?.sha256 ?? '');
  const moves = new Map<FolderPath, FolderPath>();
  for (const path of changed) {
    const here = files.get(path);
    if (here === undefined || here.seen.bytes === 0 || base.has(path) || unmovable.has(path)) continue;
    const from = sameNamedOf(path, bySha.get(here.sha256) ?? []);
    if (from === undefined) continue;
    bySha.set(here.sha256, bySha.get(here.sha256)?.filter((other) => other !== from) ?? []);
    moves.set(path, from);
  }
  return moves;
}

/** Of several files with the same bytes, prefers the one with the same name, as after the rename of a folder. */
export function sameNamedOf(path: FolderPath, candidates: readonly FolderPath[]): FolderPath | undefined {
  return candidates.find((other) => entryNameOf(other) === entryNameOf(path)) ?? candidates[0];
}
