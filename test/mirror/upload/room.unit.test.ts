/** Senders of uploads wait for room, with reads that the test owns. */
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { UploadRoom } from '../../../src/mirror/upload/room.ts';

const FULL = limits.uploadBytesUnderWay;

function world() {
  const reads: (() => void)[] = [];
  const room = new UploadRoom((run) => reads.push(run));
  const continued: string[] = [];
  const wait = (caller: string) => void room.wait(caller)?.then(() => continued.push(caller));
  /** The socket that may read on has read. */
  const read = async () => {
    reads.shift()?.();
    await Promise.resolve();
  };
  return { room, wait, read, continued };
}

test('[MIR-17] a sender waits only while there is no room', () => {
  const { room } = world();
  room.take(FULL - 1);
  expect(room.wait('a')).toBeUndefined();
  room.take(1);
  expect(room.wait('a')).toBeInstanceOf(Promise);
});

test('[MIR-17] one sender continues at a time, and callers take turns', async () => {
  const { room, wait, read, continued } = world();
  room.take(FULL + 1);
  for (const caller of ['a', 'a', 'a', 'b']) wait(caller);
  room.give(1);
  await read();
  expect(continued).toEqual([]);
  room.give(1);
  room.give(1);
  await Promise.resolve();
  expect(continued).toEqual(['a']);
  await read();
  expect(continued).toEqual(['a', 'b']);
  // What it read filled the room: the others wait for more to be given back.
  room.take(2);
  await read();
  await read();
  expect(continued).toEqual(['a', 'b']);
  room.give(2);
  await Promise.resolve();
  expect(continued).toEqual(['a', 'b', 'a']);
});

test('[MIR-17] senders that bring nothing more do not keep others waiting', async () => {
  const { room, wait, read, continued } = world();
  room.take(FULL);
  for (const caller of ['gone', 'gone', 'a']) wait(caller);
  room.give(FULL);
  for (let round = 0; round < 3; round += 1) await read();
  expect(continued).toEqual(['gone', 'a', 'gone']);
});
