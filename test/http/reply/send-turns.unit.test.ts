/** How streams share the event loop. */
import { expect, test } from 'vitest';
import { SendTurns } from '../../../src/http/reply/send-turns.ts';
import { limits } from '../../../src/limits/service.ts';

test('[NET-11, NET-12] a download goes on in the first turn, however many streams another caller has', async () => {
  const turns = new SendTurns();
  const sent: string[] = [];
  let isOver = false;
  const stream = (caller: string) => () => {
    sent.push(caller);
    return { bytes: 1024, more: !isOver };
  };
  for (let count = 0; count < 1000; count += 1) turns.add('greedy', stream('greedy'));
  turns.add('small', stream('small'));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  isOver = true;
  expect(sent.slice(0, 4)).toEqual(['greedy', 'small', 'greedy', 'small']);
});

test('[NET-12] streams that begin in one round share a turn, and the next round has one of its own', async () => {
  const turns = new SendTurns();
  expect(turns.mayBegin).toBe(true);
  const endMs = performance.now() + limits.sendTurnMsMax + 1;
  while (performance.now() < endMs);
  expect(turns.mayBegin).toBe(false);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(turns.mayBegin).toBe(true);
});
