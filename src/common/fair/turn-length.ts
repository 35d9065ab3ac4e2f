/**
 * Decides how long a turn of the event loop lasts. A request of somebody else takes several rounds of the loop, and
 * waits for a turn in each of them, so turns are short while work waits. They stay short for a moment afterwards: under
 * a load the queue is empty again and again, and whoever arrives then must not meet a long turn. Pure.
 */

/** While nobody waits: most work fits, and runs at once. */
const TURN_MS = 2;
const SHORT_TURN_MS = 0.5;
/** How long turns stay short after work waited. A load that is served leaves no gap of this length. */
const CALM_MS = 50;

/** Milliseconds of a turn. `calmMs`: how long no work has waited; 0: some waits now. */
export function turnMsAfter(calmMs: number): number {
  return calmMs < CALM_MS ? SHORT_TURN_MS : TURN_MS;
}
