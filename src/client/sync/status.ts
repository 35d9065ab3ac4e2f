/** Reports what a sync would do, without doing it: compares three hashes for each path, without any content. */
import { z } from 'zod';
import { NameMap } from './base/name-map.ts';
import type { SyncState } from './base/state.ts';
import { checkFolderPath, type FolderPath, isBad } from './folder/path.ts';
import { decidePull, localChange } from './plan/decide.ts';
import { windowOf } from './plan/guard.ts';
import { changesOfParticipation } from './plan/left-out.ts';
import { NameIndex } from './plan/names.ts';
import { planPush } from './plan/push-plan.ts';
import { LINKED, linkedOver, whyDamaged, withEarlierSaves, withLostSaves } from './plan/troubles.ts';
import { readAs } from './remote-record.ts';
import type { Replica } from './replica.ts';
import { type Scan, scanFolder } from './scan/scan.ts';

export interface SyncStatus {
  /** Changed on the hub. */
  readonly pull: readonly string[];
  /** Deleted on the hub, to be removed here. */
  readonly remove: readonly string[];
  /** Changed here. */
  readonly push: readonly string[];
  /** Missing here, to be deleted on the hub. */
  readonly delete: readonly string[];
  /** Missing or rewritten here, which is not sent without the user's confirmation. */
  readonly held: readonly string[];
  /** Deleted or rewritten on the hub, which is not done here without the user's confirmation. */
  readonly held_from_hub: readonly string[];
  /** Changed on both sides. */
  readonly conflict: readonly string[];
  /** Pending conflicts of other devices on the hub, each with the command that settles it. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Paths that cannot be synced, with the reason. */
  readonly problem: Readonly<Record<string, string>>;
  /** Links and devices, which are never synced. */
  readonly links: readonly string[];
}

const pageSchema = z.object({
  files: z.array(
    z.object({ path: z.string(), sha256: z.string(), executable: z.boolean(), quarantined: z.boolean().optional() }),
  ),
  cursor: z.string().nullable(),
  has_more: z.boolean(),
});

type Side = Map<FolderPath, string>;

interface Remote {
  readonly hashes: Side;
  readonly executables: ReadonlySet<FolderPath>;
  /** Files whose copy on the hub is damaged. */
  readonly damaged: ReadonlySet<FolderPath>;
}

export async function syncStatusOf(replica: Replica): Promise<SyncStatus> {
  const { folder, state } = replica;
  const found = await scanFolder(folder, state);
  const [known, waits] = [new NameMap(state.base), new NameMap(state.waits)];
  for (const [path, record] of changesOfParticipation(found, state)) {
    if (record === undefined) for (const records of [known, waits]) records.delete(path);
  }
  const { files, skipped, problems, links, leavesOut } = found;
  const problem = new Map([...problems, ...skipped]);
  const { hashes: remote, executables, damaged } = await listRemote(replica, problem);
  const base: Side = new Map([...known].map(([path, { sha256 }]) => [path, sha256]));
  const here: Side = new Map([...files].map(([path, { sha256 }]) => [path, sha256]));
  const spellings = alignSpellings({ remote, here, base });
  const lists = { pull: [], remove: [], push: [], delete: [], conflict: [] };
  const todo: Record<keyof typeof lists, string[]> = lists;
  const heldHere: string[] = [];
  const paths = new Set([...here.keys(), ...remote.keys(), ...base.keys()]);
  for (const path of [...paths].sort()) {
    if (leavesOut(path)) continue;
    const [local, hub, common] = [here.get(path), remote.get(path), base.get(path)];
    const spelling = spellings.get(path);
    // What cannot be renamed here waits under its own spelling.
    const own = spelling === undefined || waits.has(path) ? path : spelling.path;
    const wait = waits.get(own);
    const isOther = local !== hub || own !== path;
    const isExecutable = executables.has(path);
    if (damaged.has(path) && local === hub) todo.push.push(path);
    else if (damaged.has(path) && hub !== common) problem.set(path, whyDamaged(folder.root.path, path));
    else if (wait?.kind === 'held' && isOther) heldHere.push(own);
    else if (wait?.kind === 'download' && wait.failed === undefined && isOther) todo.pull.push(own);
    else if (local !== undefined && local === hub && (files.get(path)?.executable ?? isExecutable) !== isExecutable) {
      // The executable bit is decided by the same three-way comparison.
      todo[known.get(path)?.executable === isExecutable ? 'push' : 'pull'].push(path);
    } else if (wait !== undefined && wait.kind !== 'conflict' && isOther) problem.set(own, wait.reason);
    else if (wait !== undefined && isOther) todo.conflict.push(own);
    else if (hub !== common) {
      const action = decidePull(local, hub, common);
      if (action === 'conflict') todo.conflict.push(path);
      else if (action === 'keep') todo.push.push(path);
      else if (action === 'remove') todo.remove.push(path);
      else if (action !== 'agree' || spelling !== undefined) todo.pull.push(path);
    } else {
      const action = localChange(local, common);
      if (action === 'delete') todo.delete.push(path);
      else if (action !== undefined || spelling?.isOurs === true) todo.push.push(spelling?.path ?? path);
      else if (spelling !== undefined) todo.pull.push(path);
    }
  }
  for (const path of linkedOver(links, state.base)) problem.set(path, LINKED);
  const held = heldOf(replica, { files, leavesOut, known, waits });
  for (const path of new Set(folder.saves.list().map((save) => save.path))) {
    if (waits.get(path)?.kind === 'push') problem.set(path, withEarlierSaves(problem.get(path)));
  }
  for (const path of folder.saves.lost()) problem.set(path, withLostSaves(problem.get(path)));
  const elsewhere = Object.fromEntries(await pendingElsewhere(replica));
  const isHeld = (path: string) => held.has(path as FolderPath);
  const isFree = (path: string) => !isHeld(path);
  return {
    ...todo,
    push: todo.push.filter(isFree),
    delete: todo.delete.filter(isFree),
    held: [...todo.delete, ...todo.push].filter(isHeld),
    held_from_hub: heldHere.sort(),
    elsewhere,
    problem: Object.fromEntries(problem),
    links: [...links].sort(),
  };
}

/** The deletes and rewrites that a sync would hold back. */
function heldOf(
  { folder, state }: Replica,
  local: Pick<Scan, 'files' | 'leavesOut'> & Record<'known', SyncState['base']> & Record<'waits', SyncState['waits']>,
): ReadonlySet<FolderPath> {
  const { known: base, waits, ...here } = local;
  const isOtherRoot = state.inode !== null && state.inode !== folder.root.inode;
  const plan = planPush(
    here,
    { base, waits },
    {
      allowDeletes: false,
      allowRewrites: false,
      isCounted: (path) => state.recent.has(path),
      window: windowOf(state.recent.values(), 'sent', base.size),
      isOtherRoot,
      unmovable: new Set(),
      isReplaced: (path) => folder.isReplaced(path),
      isGoing: () => false,
      damaged: new Map(),
      sends: new Map(),
      nowMs: Date.now(),
    },
    [...here.files.keys(), ...base.keys()],
  );
  return new Set(plan.held);
}

interface Spelling {
  /** Local spelling. */
  readonly path: FolderPath;
  /** Respelled here, so the hub has to be changed. */
  readonly isOurs: boolean;
}

/** Moves entries spelled differently here to the hub's name. Returns each moved name with its local spelling. */
function alignSpellings(sides: Record<'remote' | 'here' | 'base', Side>): Map<FolderPath, Spelling> {
  const { remote, here, base } = sides;
  const found = new Map<FolderPath, Spelling>();
  const names = new NameIndex([...remote.keys(), ...here.keys(), ...base.keys()]);
  for (const path of remote.keys()) {
    const isOurs = base.has(path);
    for (const other of names.others(path)) {
      if (here.has(other) && !here.has(path)) found.set(path, { path: other, isOurs });
      for (const side of [here, base]) {
        const hash = side.get(other);
        if (hash === undefined || side.has(path)) continue;
        side.set(path, hash);
        side.delete(other);
      }
    }
  }
  return found;
}

/** The hash of every file of the vault, by path; a path not allowed in this folder becomes a problem. */
async function listRemote({ hub }: Replica, problem: Map<string, string>): Promise<Remote> {
  const hashes: Side = new Map();
  const executables = new Set<FolderPath>();
  const damaged = new Set<FolderPath>();
  let cursor: string | null = null;
  do {
    const { structured } = await hub.call('sync_list', cursor === null ? {} : { cursor });
    const page: z.infer<typeof pageSchema> = readAs(pageSchema, structured);
    for (const { path, sha256, executable, quarantined } of page.files) {
      const checked = checkFolderPath(path);
      if (isBad(checked)) {
        problem.set(path, checked.bad);
        continue;
      }
      hashes.set(checked, sha256);
      if (executable) executables.add(checked);
      if (quarantined === true) damaged.add(checked);
    }
    cursor = page.has_more ? page.cursor : null;
  } while (cursor !== null);
  return { hashes, executables, damaged };
}

const conflictsSchema = z.object({
  conflicts: z.array(z.object({ conflict_id: z.string(), path: z.string(), device_id: z.string() })),
  cursor: z.string().nullable(),
});

/** Pending conflicts of other folders, as sentences by path. */
async function pendingElsewhere({ hub, state }: Replica): Promise<Map<string, string>> {
  const own = new Set([...state.waits.values()].map(({ conflictId }) => conflictId));
  const found = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const { structured } = await hub.call('sync_pending_conflicts', cursor === null ? {} : { cursor });
    const page: z.infer<typeof conflictsSchema> = readAs(conflictsSchema, structured);
    for (const { conflict_id: id, path, device_id: device } of page.conflicts) {
      if (own.has(id)) continue;
      const settle = `from ${device}; resolve it there, or here: cairn call sync_resolve_conflict --conflict_id=${id} --keep=theirs (or --keep=yours)`;
      const before = found.get(path);
      found.set(path, before === undefined ? settle : `${before}; ${settle}`);
    }
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}
