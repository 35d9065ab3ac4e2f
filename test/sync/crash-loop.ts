/** The crash test of file sync for as many rounds as asked: `node dist/test/sync/crash-loop.js 50`. */
import { mkdirSync, rmSync } from 'node:fs';
import { HubRooms } from '../support/command-room.ts';
import { newSyncTrial, syncCrashRound } from '../support/sync-crash.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS_DEFAULT = 50;
/** Each round checks its folder again from the beginning, so a new one is begun before that becomes all it does. */
const ROUNDS_PER_FOLDER = 10;

const rounds = Number(process.argv[2] ?? ROUNDS_DEFAULT);
const rooms = new HubRooms(temporaryFolder());
const problems: string[] = [];
let [taken, refused, cutOff] = [0, 0, 0];
let trial = await newSyncTrial(rooms);
for (let round = 1; round <= rounds; round += 1) {
  const result = await syncCrashRound(trial);
  taken += result.taken;
  refused += result.refused;
  cutOff += result.cutOff;
  problems.push(...result.problems.map((problem) => `round ${round}: ${problem}`));
  if (round % ROUNDS_PER_FOLDER > 0 && round < rounds) continue;
  await trial.hub.stop();
  rmSync(trial.dataFolder, { recursive: true, force: true });
  mkdirSync(trial.dataFolder, { mode: 0o700 });
  if (round < rounds) trial = await newSyncTrial(rooms);
}
await rooms.end();
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `${rounds} rounds of kill -9: ${taken} pushes taken, ${refused} refused, ${cutOff} cut off, ${problems.length} violations\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
