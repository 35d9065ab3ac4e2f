/**
 * Storms for as many seeds as asked, one row each: `node dist/test/client/sync/storm/storm-loop.js 20 [operations] [first
 * seed]`. STORM_STILL_MS, STORM_PAUSE_MS and STORM_QUIET_MS set the times, STORM_FAULTS the part of
 * operations that a fault follows; STORM_JOURNAL names a file for the last journal.
 */

import { hasFaketime } from './station.ts';
import { storm } from './storm.ts';

const OPERATIONS_DEFAULT = 10_000;

const storms = Number(process.argv[2] ?? 20);
const operations = Number(process.argv[3] ?? OPERATIONS_DEFAULT);
const firstSeed = Number(process.argv[4] ?? Date.now() % 1_000_000);
const setting = (name: string, standard: number) => Number(process.env[`STORM_${name}`] ?? standard);
if (!hasFaketime) process.stdout.write('libfaketime is not installed (Debian: faketime), so no clock is skewed\n');
process.stdout.write(
  '| seed | limit | operations | faults | strings owed | lost | silently different | other | seconds |\n',
);
process.stdout.write('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n');
let violations = 0;
for (let at = 0; at < storms; at += 1) {
  const seed = firstSeed + at;
  // Even seeds have the default limit.
  const rateLimit = seed % 2 === 0 ? 600 : 0;
  const report = await storm({
    seed,
    operations,
    rateLimit,
    watches: 5,
    pauseMs: setting('PAUSE_MS', 180),
    stillMs: setting('STILL_MS', 2000),
    faults: setting('FAULTS', 0.01),
    quietMs: setting('QUIET_MS', 20_000),
  });
  const { lost, different, other, owed, seconds } = report;
  const [acted, faults] = [sumOf({ ...report.operations, nothing: 0 }), sumOf(report.faults)];
  const cells = [seed, rateLimit, acted, faults, owed, lost.length, different.length, other.length, seconds];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
  for (const violation of [...lost, ...different, ...other]) process.stderr.write(`seed ${seed}: ${violation}\n`);
  violations += lost.length + different.length + other.length;
  const file = process.env['STORM_JOURNAL'];
  if (file !== undefined) report.journal.write(file);
}
process.stdout.write(`${storms} storms of ${operations} operations, ${violations} violations\n`);
process.exitCode = violations === 0 ? 0 : 1;

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
