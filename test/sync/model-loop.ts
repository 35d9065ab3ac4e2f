/** As many histories as asked, from a new seed or the one that a run named: `node dist/test/sync/model-loop.js 2000 [seed]`. */
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { verified } from '../support/mirror-state.ts';
import { guardedProperty } from './model/guarded.ts';
import { historyProperty } from './model/history.ts';
import { openHolder } from './model/holder.ts';

const HISTORIES_DEFAULT = 2000;
/** Each folder is verified at its end, so a new one is begun before that becomes most of the work. */
const HISTORIES_PER_FOLDER = 100;
const GUARDED_PER_FOLDER = 20;

const histories = Number(process.argv[2] ?? HISTORIES_DEFAULT);
const firstSeed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 30));
const total = new Map<string, number>();
let failures = 0;
for (let played = 0; played < histories; played += HISTORIES_PER_FOLDER) {
  const seed = firstSeed + played / HISTORIES_PER_FOLDER;
  const holder = await openHolder();
  const numRuns = Math.min(HISTORIES_PER_FOLDER, histories - played);
  const problems: string[] = [];
  problems.push(...(await violations(historyProperty(holder), { seed, numRuns })));
  problems.push(...(await violations(guardedProperty(holder), { seed, numRuns: GUARDED_PER_FOLDER })));
  const report = await verified(holder.hub);
  problems.push(...report.problems.map((problem) => `verify: ${problem}`));
  if (report.code !== 0 && report.problems.length === 0) problems.push(`verify ended with ${report.code}`);
  failures += problems.length;
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`seed ${seed}: ${played + numRuns} of ${histories} histories, ${problems.length} violations\n`);
  for (const [what, count] of holder.tally.counts) total.set(what, (total.get(what) ?? 0) + count);
  const { dataFolder } = holder.hub;
  await holder.hub.stop();
  rmSync(dataFolder, { recursive: true, force: true });
}
for (const [what, count] of [...total].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  process.stdout.write(`${count} times ${what}\n`);
process.stdout.write(`${histories} histories from seed ${firstSeed}: ${failures} violations\n`);
process.exitCode = failures === 0 ? 0 : 1;

/** The counterexample, and what was wrong with it. */
async function violations<T>(property: fc.IAsyncProperty<T>, options: fc.Parameters<T>): Promise<string[]> {
  const result = await fc.check(property, options);
  if (!result.failed) return [];
  return [`${await fc.asyncDefaultReportMessage(result)}\n${String(result.errorInstance)}`];
}
