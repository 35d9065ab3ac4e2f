/** Turns of large bodies, with rounds of the event loop that the test owns. */
import { expect, test } from 'vitest';
import { ReadTurns } from '../../../src/http/request/read-turns.ts';
import { limits } from '../../../src/limits/service.ts';

function world() {
  let next: (() => void)[] = [];
  const turns = new ReadTurns((run) => next.push(run));
  const open = (caller: string) => {
    let handler: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
    const socket = {
      isPaused: false,
      resumed: 0,
      pause: () => {
        socket.isPaused = true;
      },
      resume: () => {
        socket.isPaused = false;
        socket.resumed += 1;
      },
      onData: (given: typeof handler) => {
        handler = given;
      },
    };
    const reading = turns.read(socket, caller, () => undefined);
    return { socket, reading, bring: (bytes: number, isLast = false) => handler(new ArrayBuffer(bytes), isLast) };
  };
  const round = () => {
    const due = next;
    next = [];
    for (const run of due) run();
    return due.length > 0;
  };
  return { open, round };
}

const LARGE = limits.readStepBytes;

test('[NET-12] in each round one paused socket is read on, and callers take turns', () => {
  const { open, round } = world();
  const greedy = Array.from({ length: 10 }, () => open('greedy'));
  const small = open('small');
  for (const { bring } of [...greedy, small]) bring(LARGE);
  expect([...greedy, small].every(({ socket }) => socket.isPaused)).toBe(true);
  round();
  expect([...greedy, small].filter(({ socket }) => !socket.isPaused)).toHaveLength(1);
  round();
  expect(small.socket.isPaused).toBe(false);
  for (let count = 0; count < 9; count += 1) round();
  expect(greedy.every(({ socket }) => socket.resumed === 1)).toBe(true);
  expect(round()).toBe(false);
});

test('[NET-12] a body that arrives slowly is never paused', () => {
  const { open, round } = world();
  const slow = open('slow');
  slow.bring(LARGE - 1);
  expect([slow.socket.isPaused, round()]).toEqual([false, false]);
});

test('[NET-12] a socket whose body is whole stays paused until its answer, so that no timeout of the library runs', () => {
  const { open, round } = world();
  const { socket, reading, bring } = open('a');
  bring(LARGE);
  // The library reads on in the same round, up to the end of the body.
  bring(LARGE, true);
  while (round());
  expect(socket.resumed).toBe(0);
  reading.leave();
  expect([socket.resumed, socket.isPaused]).toEqual([1, false]);
});

test('[NET-12] an answered request lets its socket be read at once; a closed socket is not touched again', () => {
  const { open, round } = world();
  const [answered, closed] = [open('a'), open('b')];
  for (const { bring } of [answered, closed]) bring(LARGE);
  answered.reading.leave();
  closed.reading.forget();
  expect(answered.socket.isPaused).toBe(false);
  while (round());
  answered.bring(LARGE);
  expect([answered.socket.resumed, closed.socket.resumed]).toEqual([1, 0]);
  expect(answered.socket.isPaused).toBe(false);
});
