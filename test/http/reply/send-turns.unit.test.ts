/** How streams share the event loop. */
import { expect, test } from 'vitest';
import { SendTurns } from '../../../src/http/reply/send-turns.ts';

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
