/**
 * Storms of syncs that end early, one row a seed: `node dist/test/client/sync/storm/cut-loop.js 20 [rounds] [first seed]`.
 * STORM_JOURNAL names a file for the last journal.
 */
import { cutStorm } from './cuts.ts';

const storms = Number(process.argv[2] ?? 20);
const rounds = Number(process.argv[3] ?? 20);
const firstSeed = Number(process.argv[4] ?? Date.now() % 1_000_000);
let violations = 0;
process.stdout.write('| seed | syncs | cut | silently different | other |\n| ---: | ---: | ---: | ---: | ---: |\n');
for (let seed = firstSeed; seed < firstSeed + storms; seed += 1) {
  const { syncs, cuts, different, other, journal } = await cutStorm({ seed, devices: 3, rounds });
  process.stdout.write(`| ${[seed, syncs, cuts, different.length, other.length].join(' | ')} |\n`);
  for (const violation of [...different, ...other]) process.stderr.write(`seed ${seed}: ${violation}\n`);
  violations += different.length + other.length;
  const file = process.env['STORM_JOURNAL'];
  if (file !== undefined && different.length + other.length > 0) journal.write(`${file}-${seed}`);
}
process.stdout.write(`${storms} storms of ${rounds} rounds, ${violations} violations\n`);
process.exitCode = violations === 0 ? 0 : 1;
