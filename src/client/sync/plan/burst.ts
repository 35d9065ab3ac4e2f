/** Finds the burst of changes that a person most probably wants to undo. Pure. */

/** Changes this far apart belong to one burst (milliseconds): a slow `rm -rf` takes seconds for one folder. */
const GAP_MS = 60_000;

/** The last change of a file. */
export interface LastChange {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The file is there, and had no version before: nothing was lost by this change. */
  readonly isNew: boolean;
}

/** A run of changes with no long pause in it. */
export interface Burst {
  /** Times of the first and the last change, milliseconds since 1970. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly changes: number;
}

/**
 * The burst with the most changes among those after `sinceMs`, the latest of equal ones; undefined when nothing changed.
 * `changes` are the last ones of all files, in any order. The first push of a folder is not part of the burst that
 * follows it: before that push there was no file to go back to.
 */
export function largestBurst(changes: readonly LastChange[], sinceMs: number): Burst | undefined {
  return runsOf(changes)
    .map((run, at) => {
      const recent = run.filter(({ atMs }) => atMs > sinceMs);
      return at === 0 ? afterFirstPush(recent) : recent;
    })
    .reduce<Burst | undefined>((largest, run) => {
      const [first, last] = [run[0], run.at(-1)];
      if (first === undefined || last === undefined || run.length < (largest?.changes ?? 0)) return largest;
      return { firstMs: first.atMs, lastMs: last.atMs, changes: run.length };
    }, undefined);
}

/** The changes in runs without a long pause, oldest first. */
function runsOf(changes: readonly LastChange[]): LastChange[][] {
  const runs: LastChange[][] = [];
  for (const change of changes.toSorted((a, b) => a.atMs - b.atMs)) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run === undefined || before === undefined || change.atMs - before.atMs > GAP_MS) runs.push([change]);
    else run.push(change);
  }
  return runs;
}

/** The oldest run without the new files at its beginning, unless it has nothing else. */
function afterFirstPush(run: readonly LastChange[]): readonly LastChange[] {
  const first = run.findIndex(({ isNew }) => !isNew);
  return first === -1 ? run : run.slice(first);
}

/** True when an undo that changes so many of the files goes so far that a person has to confirm the number. */
export function isFarUndo(changed: number, files: number): boolean {
  return changed * 2 > files;
}
