/** Finds the burst of changes that a person most probably wants to undo. Pure. */

/** Changes this far apart belong to one burst (milliseconds): a slow `rm -rf` takes seconds for one folder. */
const GAP_MS = 60_000;

/** A run of changes with no long pause in it. */
export interface Burst {
  /** Times of the first and the last change, milliseconds since 1970. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly changes: number;
}

/**
 * The burst with the most changes among those after `sinceMs`, the latest of equal ones; undefined when nothing changed.
 * `times` are the times of the changes, in any order.
 */
export function largestBurst(times: readonly number[], sinceMs: number): Burst | undefined {
  const bursts: Burst[] = [];
  for (const atMs of times.filter((time) => time > sinceMs).sort((a, b) => a - b)) {
    const last = bursts.at(-1);
    if (last === undefined || atMs - last.lastMs > GAP_MS) bursts.push({ firstMs: atMs, lastMs: atMs, changes: 1 });
    else bursts[bursts.length - 1] = { ...last, lastMs: atMs, changes: last.changes + 1 };
  }
  return bursts.reduce<Burst | undefined>(
    (largest, burst) => (largest === undefined || burst.changes >= largest.changes ? burst : largest),
    undefined,
  );
}
