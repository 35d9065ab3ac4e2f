/** Storms for as many seeds as asked: `node dist/test/client/sync/storm/storm-loop.js 20 [operations] [first seed]`. */
import { hasFaketime, storm } from './storm.ts';

const OPERATIONS_DEFAULT = 10_000;
const PAUSE_MS = 180;

const storms = Number(process.argv[2] ?? 20);
const operations = Number(process.argv[3] ?? OPERATIONS_DEFAULT);
const firstSeed = Number(process.argv[4] ?? Date.now() % 1_000_000);
if (!hasFaketime) process.stdout.write('libfaketime is not installed (Debian: faketime), so no clock is skewed\n');
let violations = 0;
for (let at = 0; at < storms; at += 1) {
  const seed = firstSeed + at;
  const report = await storm({
    seed,
    operations,
    watches: 5,
    pauseMs: PAUSE_MS,
    stillMs: Number(process.env['STORM_STILL_MS'] ?? 2000),
    faults: 0.005,
    // Every other storm has the default limit.
    rateLimit: at % 2 === 0 ? 600 : 0,
    quietMs: 30_000,
  });
  violations += report.violations.length;
  process.stdout.write(`${JSON.stringify({ ...report, violations: report.violations.length })}\n`);
  for (const violation of report.violations) process.stderr.write(`seed ${seed}: ${violation}\n`);
}
process.stdout.write(`${storms} storms of ${operations} operations, ${violations} violations\n`);
process.exitCode = violations === 0 ? 0 : 1;
