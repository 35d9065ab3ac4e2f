/** How long the senders of chunks pause, so that other calls of the account find room. */
import { expect, test } from 'vitest';
import { SpareCalls, senderPauseMs } from '../../../src/client/spare-calls.ts';

test.each([
  ['much is left', { limit: 200, remaining: 190, resetSeconds: 1 }, 0],
  ['half is left', { limit: 200, remaining: 100, resetSeconds: 10 }, 0],
  ['less than half is left: as many as come back', { limit: 200, remaining: 96, resetSeconds: 10.4 }, 400],
  ['none is left', { limit: 200, remaining: 0, resetSeconds: 20 }, 400],
  ['a hub without a limit says nothing', { limit: Number.NaN, remaining: Number.NaN, resetSeconds: Number.NaN }, 0],
  ['a rate that is no rate never stops a transfer', { limit: 10, remaining: 0, resetSeconds: 1e9 }, 60_000],
])('[SYN-39] the chunks of a large file leave calls to others: %s', (_, rate, ms) => {
  expect(senderPauseMs(rate, 4)).toBe(ms);
});

test('[SYN-39] an answer without a rate has no pause', async () => {
  const spare = new SpareCalls();
  spare.note({ header: () => undefined });
  await spare.wait(undefined);
});
