/** Work that is begun ahead keeps its order and its bound, and a failure ends the rest. */
import { expect, test } from 'vitest';
import { inOrder } from '../../../src/client/sync/chunks/in-order.ts';

function works() {
  const log: string[] = [];
  const ends = new Map<number, { done: () => void; fail: (error: Error) => void }>();
  const work = (item: number, signal: AbortSignal) => {
    log.push(`begin ${item}`);
    return new Promise<number>((resolve, reject) => {
      ends.set(item, { done: () => resolve(item), fail: reject });
      signal.addEventListener('abort', () => {
        log.push(`ended ${item}`);
        reject(new Error('ended'));
      });
    });
  };
  return { log, ends, work };
}

test('[SYN-39] several chunks are asked for at once, never more, and come in their order', async () => {
  const { log, ends, work } = works();
  const rest = inOrder([0, 1, 2, 3, 4], 3, work);
  const first = rest.next();
  expect(log).toEqual(['begin 0', 'begin 1', 'begin 2']);
  ends.get(2)?.done();
  ends.get(0)?.done();
  expect(await first).toEqual({ done: false, value: 0 });
  const second = rest.next();
  await new Promise(setImmediate);
  expect(log).toHaveLength(4);
  for (const item of [1, 3]) ends.get(item)?.done();
  expect(await second).toEqual({ done: false, value: 1 });
  expect(await rest.next()).toEqual({ done: false, value: 2 });
  const fourth = rest.next();
  await new Promise(setImmediate);
  ends.get(4)?.done();
  expect(await fourth).toEqual({ done: false, value: 3 });
  expect(await rest.next()).toEqual({ done: false, value: 4 });
  expect((await rest.next()).done).toBe(true);
});

test('[SYN-39] after a failure nothing more is begun, and what goes on is ended', async () => {
  const { log, ends, work } = works();
  const rest = inOrder([0, 1, 2, 3], 2, work);
  const first = rest.next();
  ends.get(0)?.fail(new Error('no room'));
  await expect(first).rejects.toThrow('no room');
  expect(log).toEqual(['begin 0', 'begin 1', 'ended 0', 'ended 1']);
});
