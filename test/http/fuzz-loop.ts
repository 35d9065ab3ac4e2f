/** So many requests that nobody would write, from a seed: `node dist/test/http/fuzz-loop.js 100000 [seed]`. */
import { fuzz } from '../support/fuzz-run.ts';

const REQUESTS_DEFAULT = 100_000;
const requests = Number(process.argv[2] ?? REQUESTS_DEFAULT);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const { problems, statuses, memoryFactor } = await fuzz(requests, seed, (line) => process.stdout.write(`${line}\n`));
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `${requests} requests from seed ${seed}: ${problems.length} problems, memory ${memoryFactor.toFixed(2)} of its start, ${JSON.stringify(statuses)}\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
