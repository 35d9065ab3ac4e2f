/**
 * The power-cut test for as many states as asked: `node dist/test/ops/power-cut-loop.js 300`. The hubs start one after another in
 * one process.
 */
import { HubRooms } from '../support/command-room.ts';
import { checkState, recordTrial, someStates } from '../support/power-cut-trial.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const STATES_DEFAULT = 300;
/** States of one recorded run; then another run is recorded. */
const STATES_PER_RUN = 100;
const ROUNDS = 25;

const states = Number(process.argv[2] ?? STATES_DEFAULT);
const random = randomOf(seed);
const rooms = new HubRooms(temporaryFolder());
const problems: string[] = [];
let opened = 0;
let answered = 0;
let looked = 0;
let unflushed = 0;
let moments = 0;
while (opened < states) {
  const trial = await recordTrial(ROUNDS, random);
  answered += trial.ledger.counts.acknowledged;
  moments += trial.moments.length;
  for (const state of someStates(trial, Math.min(STATES_PER_RUN, states - opened))) {
    opened += 1;
    unflushed += state.unflushed;
    const checked = await checkState(trial, state, rooms);
    problems.push(...checked.problems);
    looked += checked.answered;
  }
}
await rooms.end();
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `${opened} disks after a power cut (seed ${seed}), out of ${moments} moments of runs with ${answered} answered writes; ` +
    `${unflushed} writes were not flushed at a cut, ${looked} answered ones were looked for: ${problems.length} violations\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
