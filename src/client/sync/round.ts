/** Defines the round of a sync: what its steps know beside the stored state. A value: each step leaves the next one. */
import type { HeldChange } from './base/state.ts';
import type { FolderPath } from './folder/path.ts';
import type { Allows } from './plan/guard.ts';
import type { Sends } from './plan/waits.ts';
import type { Replica } from './replica.ts';
import type { FullScan, Scan } from './scan/scan.ts';

export interface Round {
  /** The last scan; undefined before the first. */
  readonly scan: Scan | undefined;
  /** A scan of everything that was left for changes whose paths are known, or begins after them. */
  readonly fullScan: FullScan | 'due' | undefined;
  /** Paths to compare with the hub in this turn of the sync, regardless of the cursor. */
  readonly recheck: ReadonlySet<FolderPath>;
  /** Paths to compare in the next turn or sync, once no upload of them is under way. */
  readonly due: ReadonlySet<FolderPath>;
  /** True when the pull stopped early, so that local changes are pushed first. */
  readonly isMore: boolean;
  /** New names whose move the hub refused in this sync; they are pushed as new files. */
  readonly unmovable: ReadonlySet<FolderPath>;
  /** Problems of single paths in this sync, each with its reason. */
  readonly troubles: ReadonlyMap<string, string>;
  /** Files missing or rewritten here, which is not sent without the user's confirmation. */
  readonly held: ReadonlyMap<FolderPath, HeldChange>;
  /** Kinds of changes that the user has confirmed. */
  readonly allows: Allows;
  /** Files whose copy on the hub is damaged, with its hash: sending the same content again restores it. */
  readonly damaged: ReadonlyMap<FolderPath, string>;
  /** Contents that this process sent as conflict copies: name of the copy, by path and hash. */
  readonly copies: ReadonlyMap<string, FolderPath>;
  /** Copies of saves for which the hub had no room, by their place: retried with the refused changes. */
  readonly unsent: ReadonlySet<string>;
  /** Sends of large files to which programs keep writing. */
  readonly sends: Sends;
  /** When the first file that waits for that reason is sent (milliseconds since 1970); infinite when none waits. */
  readonly restsUntilMs: number;
  /** True when this process gave the folder a new device id, because it is not the folder of the previous sync. */
  readonly isRenewed: boolean;
}

/** The next round, while the step that makes it works on it: nobody else sees it before. */
export type RoundDraft = { -readonly [Name in keyof Round]: Writable<Round[Name]> };
type Writable<T> =
  T extends ReadonlyMap<infer Key, infer Value> ? Map<Key, Value> : T extends ReadonlySet<infer One> ? Set<One> : T;

/** The round before the first sync of a process. */
export function newRound(): RoundDraft {
  return {
    scan: undefined,
    fullScan: undefined,
    recheck: new Set(),
    due: new Set(),
    isMore: false,
    unmovable: new Set(),
    troubles: new Map(),
    held: new Map(),
    allows: { allowDeletes: false, allowRewrites: false },
    damaged: new Map(),
    copies: new Map(),
    unsent: new Set(),
    sends: new Map(),
    restsUntilMs: Number.POSITIVE_INFINITY,
    isRenewed: false,
  };
}

function draftOf(round: Round): RoundDraft {
  const { recheck, due, unmovable, troubles, held, damaged, copies, unsent, sends } = round;
  return {
    ...round,
    recheck: new Set(recheck),
    due: new Set(due),
    unmovable: new Set(unmovable),
    troubles: new Map(troubles),
    held: new Map(held),
    damaged: new Map(damaged),
    copies: new Map(copies),
    unsent: new Set(unsent),
    sends: new Map(sends),
  };
}

/** A step of a sync at work. */
export interface SyncStep extends Replica {
  readonly next: RoundDraft;
}

/**
 * Runs a step after a round. `keep` receives the next round also when the step fails: what it found until then is still
 * true, and nothing would find it again.
 */
export async function runStep<T>(
  replica: Replica,
  round: Round,
  work: (step: SyncStep) => T | Promise<T>,
  keep: (next: Round) => void,
): Promise<T> {
  const next = draftOf(round);
  try {
    return await work({ ...replica, next });
  } finally {
    keep(next);
  }
}

/** A round with what transfers of large files found out beside it. */
export function withFindings(
  round: Round,
  { due, troubles, copies, sends }: Pick<Round, 'due' | 'troubles' | 'copies' | 'sends'>,
): Round {
  const later = [...sends].filter(([path, { lastMs }]) => lastMs > (round.sends.get(path)?.lastMs ?? 0));
  return {
    ...round,
    due: new Set([...round.due, ...due]),
    troubles: new Map([...round.troubles, ...troubles]),
    copies: new Map([...round.copies, ...copies]),
    sends: new Map([...round.sends, ...later]),
  };
}

/** Has a path compared with the hub in this turn; a process that ends before that leaves it to the next one. */
export function compareNow({ state, next }: SyncStep, path: FolderPath): void {
  next.recheck.add(path);
  state.compareLater(path);
}

/** The same in the next turn or sync, once no upload of the path is under way. */
export function compareNext({ state, next }: SyncStep, path: FolderPath): void {
  next.due.add(path);
  state.compareLater(path);
}
