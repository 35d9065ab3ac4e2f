/** Turns of the event loop, with a clock and rounds that the test owns. */
import { expect, test } from 'vitest';
import { Turns } from '../../src/common/turns.ts';

function world() {
  let nowMs = 0;
  let rounds: (() => void)[] = [];
  const turns = new Turns(
    () => nowMs,
    (run) => rounds.push(run),
  );
  return {
    turns,
    work: (ms: number) => {
      nowMs += ms;
    },
    /** Runs a round of the loop and what it sets off; false when there was nothing. */
    round: async () => {
      const due = rounds;
      rounds = [];
      for (const run of due) run();
      await new Promise((resolve) => setImmediate(resolve));
      return due.length > 0;
    },
  };
}

test('[NET-12] work that fits into a turn is not put off, and the turn is shared by all that begin in a round', async () => {
  const { turns, work, round } = world();
  expect(turns.isOver).toBe(false);
  work(1.9);
  expect(turns.isOver).toBe(false);
  work(0.1);
  expect(turns.isOver).toBe(true);
  await round();
  expect(turns.isOver).toBe(false);
});

test('[NET-12] a long walk holds a round for one turn, and turns go round the callers', async () => {
  const { turns, work, round } = world();
  const order: string[] = [];
  const walk = async (caller: string, steps: number) => {
    for (let step = 0; step < steps; step += 1) {
      if (turns.isOver) await turns.next(caller);
      work(0.125);
      order.push(caller);
    }
  };
  const greedy = Array.from({ length: 60 }, () => walk('greedy', 40));
  const small = walk('small', 3);
  // Only the first sixteen steps ran at once; everybody else waits.
  expect(order).toEqual(Array(16).fill('greedy'));
  await round();
  await round();
  expect(order.slice(16).filter((caller) => caller === 'small').length).toBe(3);
  let rounds = 2;
  while (await round()) {
    rounds += 1;
    if (rounds > 10_000) break;
  }
  await Promise.all([...greedy, small]);
  expect(order.length).toBe(60 * 40 + 3);
  expect(turns.waiting).toBe(0);
  // Each later round had one turn of half a millisecond, which is four steps.
  expect(rounds).toBeGreaterThanOrEqual((60 * 40 - 16) / 4);
});

test('[NET-12] deferred work that fits into one turn shares it, and the next waits for another round', async () => {
  const { turns, work, round } = world();
  expect(turns.isOver).toBe(false);
  work(2);
  let done = 0;
  const small = async () => {
    await turns.next('someone');
    // What resumed work does after further promises counts to the turn as well.
    await Promise.resolve();
    work(0.125);
    done += 1;
  };
  const all = Array.from({ length: 6 }, small);
  await round();
  expect(done).toBe(4);
  await round();
  expect(done).toBe(6);
  await Promise.all(all);
});

test('[NET-11, NET-12] streams share the turns of all other work, and each caller waits for one step of each other', async () => {
  const { turns, work, round } = world();
  const done: string[] = [];
  let isOver = false;
  const step = (caller: string) => () => {
    work(0.125);
    done.push(caller);
    if (!isOver) turns.push(caller, step(caller));
  };
  for (let count = 0; count < 1000; count += 1) turns.push('greedy', step('greedy'));
  turns.push('small', step('small'));
  void turns.next('walker').then(step('walker'));
  for (let count = 0; count < 3; count += 1) await round();
  // Each has four steps, which are half a millisecond.
  expect(done.slice(0, 3)).toEqual(['greedy', 'small', 'walker']);
  expect(done).toHaveLength(12);
  for (const caller of ['greedy', 'small', 'walker']) expect(done.filter((one) => one === caller)).toHaveLength(4);
  isOver = true;
});

test('[NET-15] a caller that used less than those who wait goes ahead at once, for half a millisecond of a round', async () => {
  const { turns, work, round } = world();
  const walk = async () => {
    for (;;) {
      await turns.next('greedy');
      work(0.125);
    }
  };
  for (let count = 0; count < 100; count += 1) void walk();
  await round();
  for (let count = 0; count < 3; count += 1) {
    expect(turns.enter('greedy')).not.toBe(undefined);
    for (const name of ['first', 'second']) {
      expect(turns.enter(`${name} of ${count}`)).toBe(undefined);
      expect(turns.isOver).toBe(false);
      work(0.25);
    }
    expect(turns.isOver).toBe(true);
    expect(turns.enter(`third of ${count}`)).not.toBe(undefined);
    await round();
  }
  // The same caller again and again has used as much as those who wait.
  expect(turns.enter('small')).toBe(undefined);
  work(0.25);
  expect(turns.enter('small')).not.toBe(undefined);
});

test('[NET-13] what follows the events of a round comes before the work that waits', async () => {
  const { turns, work, round } = world();
  const done: string[] = [];
  expect(turns.enter('greedy')).toBe(undefined);
  work(3);
  turns.push('greedy', () => done.push('deferred'));
  turns.afterEvents(() => done.push('held'));
  await round();
  turns.afterEvents(() => done.push('held alone'));
  await round();
  expect(done).toEqual(['held', 'deferred', 'held alone']);
});

test('[NET-12] turns stay short for a moment after several callers had work, and a caller alone has long ones', async () => {
  const { turns, work, round } = world();
  const timeLeft = async (callers: readonly string[]) => {
    for (const caller of callers) expect(turns.enter(caller)).toBe(undefined);
    work(0.5);
    const left = !turns.isOver;
    await round();
    return left;
  };
  expect(await timeLeft(['one', 'one'])).toBe(true);
  expect(await timeLeft(['one'])).toBe(true);
  // This turn began with the first of them.
  expect(await timeLeft(['one', 'another'])).toBe(true);
  expect(await timeLeft(['another'])).toBe(false);
  expect(await timeLeft(['another'])).toBe(false);
  work(60);
  expect(await timeLeft(['another'])).toBe(true);
});

test('[NET-12] what ran elsewhere and arrives at once is continued a turn at a time, another caller first', async () => {
  const { turns, work, round } = world();
  const done: string[] = [];
  const arrivals: (() => void)[] = [];
  const ask = async (caller: string) => {
    await turns.resumed(caller, new Promise<void>((resolve) => arrivals.push(resolve)));
    work(1);
    done.push(caller);
  };
  const all = [...Array.from({ length: 6 }, () => ask('greedy')), ask('small')];
  for (const arrive of arrivals) {
    arrive();
    // Each message of another thread is an event of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The small one goes ahead, although the turn is over.
  expect(done).toEqual(['greedy', 'greedy', 'small']);
  await round();
  expect(done).toEqual(['greedy', 'greedy', 'small', 'greedy']);
  while (await round());
  await Promise.all(all);
  expect(done).toHaveLength(7);
});
