/**
 * Mixed load for as many seconds as asked, with kill -9 at random; then what is missing, what is damaged, and how much
 * memory the last hub has beside what it had before its load: `node dist/test/ops/soak-loop.js 600`. Needs /proc.
 */
import { randomInt } from 'node:crypto';
import { Soak } from '../support/soak.ts';

const SECONDS_DEFAULT = 600;
/** Of the last life, which nobody kills: warm-up, load; and how long it is left alone before its memory is read. */
const WARM_SECONDS = 30;
const LAST_SECONDS = 150;
const IDLE_SECONDS = 20;
/** Of the lives before. */
const LIFE_SECONDS = [3, 30] as const;
const GROWTH_MAX = 1.2;
const MiB = 1024 * 1024;

const seconds = Number(process.argv[2] ?? SECONDS_DEFAULT);
const idle = () => new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1000));
const soak = await Soak.start();
const problems: string[] = [];
for (let left = seconds - WARM_SECONDS - LAST_SECONDS; left > 0; ) {
  const life = Math.min(left, randomInt(...LIFE_SECONDS) + Math.random());
  left -= life;
  await soak.loadAndKill(life * 1000);
  problems.push(...(await soak.missing()));
}
await soak.load(WARM_SECONDS * 1000);
await idle();
const before = soak.anonymousBytes();
await soak.load(LAST_SECONDS * 1000);
const peak = soak.anonymousBytes();
await idle();
const after = soak.anonymousBytes();
problems.push(...soak.problems, ...(await soak.missing()), ...(await soak.damage()));
const growth = after / before;
if (growth > GROWTH_MAX) problems.push(`memory is ${growth.toFixed(2)} times what it was`);
await soak.place.hub.stop();

for (const problem of new Set(problems)) process.stderr.write(`${problem}\n`);
const { done, cutOff, kills } = soak.counts;
const mib = (bytes: number) => `${Math.round(bytes / MiB)} MiB`;
process.stdout.write(
  `${seconds} s of load: ${done} things done, ${soak.ledger.counts.acknowledged} writes acknowledged, ${kills} kills, ` +
    `${cutOff} things cut off; RssAnon ${mib(before)} before the last load, ${mib(peak)} at its end, ${mib(after)} after it ` +
    `(${growth.toFixed(2)}); ${problems.length} violations\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
