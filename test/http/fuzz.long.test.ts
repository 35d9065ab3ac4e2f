/** Requests that nobody would write, over every route and tool; more of them run as a program (fuzz-loop.ts). */
import { expect, test } from 'vitest';
import { fuzz } from '../support/fuzz-run.ts';

const REQUESTS = 10_000;
const MEMORY_FACTOR_MAX = 2;
/** Half a minute on a quiet machine; a hang is found request by request. */
const PATIENCE_MS = 300_000;
const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);

test(`[NET-7, NET-8, OPS-6] ${REQUESTS} fuzzed requests: no 500, no hang, nothing damaged, memory is back (FC_SEED=${seed})`, {
  timeout: PATIENCE_MS,
}, async () => {
  const { problems, statuses, memoryFactor } = await fuzz(REQUESTS, seed, () => undefined);
  expect(problems).toEqual([]);
  expect(memoryFactor).toBeLessThan(MEMORY_FACTOR_MAX);
  // It comes through the doors: some requests are right.
  expect(statuses['200'] ?? 0).toBeGreaterThan(REQUESTS / 20);
});
