/** The crash test for as many rounds as asked: `node dist/test/mirror/crash-loop.js 50`. */
import { mkdirSync, rmSync } from 'node:fs';
import { HubRooms } from '../support/command-room.ts';
import { crashRound, newCrashTrial } from '../support/crash-round.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS_DEFAULT = 50;
/** Each round checks every blob of its folder again, so a new one is begun before that becomes all it does. */
const ROUNDS_PER_FOLDER = 5;

const rounds = Number(process.argv[2] ?? ROUNDS_DEFAULT);
const rooms = new HubRooms(temporaryFolder());
const problems: string[] = [];
let acknowledged = 0;
let cutOff = 0;
let trial = await newCrashTrial(rooms);
for (let round = 1; round <= rounds; round += 1) {
  const result = await crashRound(trial);
  acknowledged += result.acknowledged;
  cutOff += result.cutOff;
  problems.push(...result.problems.map((problem) => `round ${round}: ${problem}`));
  if (round % ROUNDS_PER_FOLDER > 0 && round < rounds) continue;
  await trial.hub.stop();
  rmSync(trial.dataFolder, { recursive: true, force: true });
  mkdirSync(trial.dataFolder, { mode: 0o700 });
  if (round < rounds) trial = await newCrashTrial(rooms);
}
await rooms.end();
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `${rounds} rounds of kill -9: ${acknowledged} uploads acknowledged, ${cutOff} cut off, ${problems.length} violations\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
