/**
 * Decides how long a turn of the event loop lasts. A request of somebody else takes several rounds of the loop, and
 * waits for a turn in each of them, so turns are short while work waits. They stay short for a moment after several
 * callers had work: under a load the queue is empty again and again, and a request that arrives then must not meet a long turn.
 * A caller alone keeps long turns: its work would only be put off for its own sake. Pure.
 */

/** Most work fits, and runs at once. */
const TURN_MS = 2;
export const SHORT_TURN_MS = 0.5;
/** How long others are still expected after they had work. */
const OTHERS_MS = 50;

/** Milliseconds of a turn. `othersMs`: how long ago another caller had work than the one before it. */
export function turnMsOf({ waits, othersMs }: { readonly waits: boolean; readonly othersMs: number }): number {
  return waits || othersMs < OTHERS_MS ? SHORT_TURN_MS : TURN_MS;
}
