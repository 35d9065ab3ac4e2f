/**
 * Pairs files that one side edited with the new names that the other side gave them, so that an edit follows its file
 * and nothing exists twice. Pure.
 */
import { entryNameOf, type FolderPath } from '../folder/path.ts';
import { sameNamedOf } from './push-plan.ts';

/** A file edited here and gone from its name on the hub. */
export interface Gone {
  readonly path: FolderPath;
  /** The hash on which both sides last agreed. */
  readonly agreed: string;
}

/** A file that is new on the hub. */
export interface Arrival {
  readonly path: FolderPath;
  readonly sha256: string;
  readonly bytes: number;
  /** The name that its newest change says it had. */
  readonly from: string | undefined;
}

export interface Pairs {
  /** Former name to new name. */
  readonly sure: ReadonlyMap<FolderPath, FolderPath>;
  /** New names in question, by former name: the hub is asked whether one had the agreed bytes earlier. */
  readonly asks: ReadonlyMap<FolderPath, readonly FolderPath[]>;
}

/** How many new files the hub is asked about for one file that is gone. */
const ASKS_MAX = 8;

/**
 * Pairs by what the hub says first, then by equal bytes (a rename that was seen as delete and create), each new name
 * once. A file renamed and edited again has neither: those with the same name, or the only ones there are, are asked for.
 */
export function pairRenames(gone: readonly Gone[], arrivals: readonly Arrival[]): Pairs {
  const sure = new Map<FolderPath, FolderPath>();
  const free = new Map(arrivals.map((arrival) => [arrival.path, arrival]));
  const pair = (former: FolderPath, path: FolderPath | undefined) => {
    if (path === undefined || !free.delete(path)) return;
    sure.set(former, path);
  };
  for (const { path: former } of gone) pair(former, arrivals.find(({ from }) => from === former)?.path);
  for (const { path: former, agreed } of gone) {
    if (sure.has(former)) continue;
    const equal = [...free.values()].filter(({ sha256, bytes }) => bytes > 0 && sha256 === agreed);
    pair(
      former,
      sameNamedOf(
        former,
        equal.map(({ path }) => path),
      ),
    );
  }
  const asks = new Map<FolderPath, readonly FolderPath[]>();
  for (const { path: former } of gone) {
    if (sure.has(former)) continue;
    const names = [...free.keys()];
    const alike = names.filter((path) => entryNameOf(path) === entryNameOf(former));
    const asked = alike.length > 0 ? alike : names;
    if (asked.length > 0 && asked.length <= ASKS_MAX) asks.set(former, asked);
  }
  return { sure, asks };
}
