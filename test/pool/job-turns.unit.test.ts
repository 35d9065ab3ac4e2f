/** Which job of the pool runs next, and on which thread. */
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { isLongJob } from '../../src/pool/job-length.ts';
import { type JobKind, JobTurns } from '../../src/pool/job-turns.ts';

/** Jobs by name: `A1` is a long one of the account A, `b1` a short one of b. */
function open(threads: number) {
  const turns = new JobTurns(threads);
  const running = new Map<string, number>();
  const started: string[] = [];
  const kindOf = (name: string): JobKind => ({
    caller: { accountId: name.slice(0, 1) },
    isLong: name < 'a',
    isOfNewcomer: false,
  });
  return {
    turns,
    running,
    started,
    enter: (...names: string[]) => {
      for (const name of names) {
        turns.enter(kindOf(name), (thread) => {
          running.set(name, thread);
          started.push(name);
        });
      }
    },
    end: (name: string, ms = 1) => {
      const thread = running.get(name);
      running.delete(name);
      turns.leave(kindOf(name), thread ?? -1, ms);
    },
  };
}

test('[NET-11] long jobs never have all threads: a short job of somebody else starts at once', () => {
  const { enter, running } = open(3);
  enter('A1', 'A2', 'A3', 'A4', 'b1');
  expect(Object.fromEntries(running)).toEqual({ A1: 1, A2: 2, b1: 0 });
});

test('[NET-11] no short job is put into a thread behind a long one, and short ones fill the others', () => {
  const { enter, end, running } = open(2);
  enter('A1', 'b1', 'b2', 'b3', 'b4');
  expect(Object.fromEntries(running)).toEqual({ A1: 1, b1: 0, b2: 0 });
  end('b1');
  expect(Object.fromEntries(running)).toEqual({ A1: 1, b2: 0, b3: 0 });
  end('A1');
  expect(Object.fromEntries(running)).toEqual({ b2: 0, b3: 0, b4: 1 });
});

test('[NET-11] with short jobs only, each thread has one and a second one in reserve', () => {
  const { enter, started, turns } = open(2);
  enter('a1', 'a2', 'a3', 'a4', 'a5');
  expect(started).toEqual(['a1', 'a2', 'a3', 'a4']);
  expect(turns.waiting).toBe(1);
});

test('[NET-15] accounts divide the time of long jobs, however long each takes', () => {
  const { enter, end, started } = open(2);
  enter('A1', 'A2', 'A3', 'A4', 'B1', 'B2', 'B3', 'B4');
  end('A1', 4);
  for (let jobs = 0; jobs < 4; jobs += 1) {
    const last = started.at(-1) ?? '';
    end(last, last.startsWith('A') ? 4 : 1);
  }
  expect(started.slice(0, 2)).toEqual(['A1', 'B1']);
  expect(started.filter((name) => name.startsWith('B')).length).toBeGreaterThan(
    started.filter((name) => name.startsWith('A')).length,
  );
});

test('[NET-11] on a single thread, short and long jobs take turns', () => {
  const { enter, end, started } = open(1);
  enter('A1', 'A2', 'A3', 'b1', 'b2', 'b3');
  for (let jobs = 0; jobs < 5; jobs += 1) end(started.at(-1) ?? '');
  expect(started).toEqual(['A1', 'b1', 'A2', 'b2', 'A3', 'b3']);
});

test.each([
  [0, false],
  [limits.poolShortBytesMax, false],
  [limits.poolShortBytesMax + 1, true],
])('[NET-11] a body or content of %i bytes is a long job: %s', (bytes, expected) => {
  const text = 'x'.repeat(bytes);
  const parts = [new Uint8Array(bytes)];
  expect(isLongJob('parseBody', { parts, form: { kind: 'document' } })).toBe(expected);
  expect(isLongJob('prepareContent', { text, encoding: 'utf-8' })).toBe(expected);
  expect(isLongJob('digestContents', [{ text, encoding: 'utf-8' }])).toBe(expected);
  expect(isLongJob('readStored', { version: new Uint8Array(0), escaped: new Uint8Array(bytes) })).toBe(expected);
});
