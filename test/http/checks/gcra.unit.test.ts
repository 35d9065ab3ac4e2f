/** What each call is answered by a limit of 60 a minute and three at once, and when tries are too many. */
import { describe, expect, test } from 'vitest';
import { RateLimiter } from '../../../src/http/checks/gcra.ts';
import { WrongTries } from '../../../src/http/checks/wrong-tries.ts';
import { limits } from '../../../src/limits/service.ts';
import { refusedWith } from '../../support/refused.ts';

const START_MS = 1_000_000_000;

interface Told {
  readonly remaining?: number;
  readonly resetSeconds?: number;
  readonly retryAfterSeconds?: number;
}
type Call = readonly [afterMs: number, cost: number, allowed: boolean, told: Told];
const BURSTS: readonly (readonly [title: string, calls: readonly Call[]])[] = [
  [
    'the burst',
    [
      [0, 1, true, { remaining: 2, resetSeconds: 1 }],
      [0, 1, true, { remaining: 1, resetSeconds: 2 }],
      [0, 1, true, { remaining: 0, resetSeconds: 3, retryAfterSeconds: 0 }],
      [0, 1, false, { remaining: 0, resetSeconds: 3, retryAfterSeconds: 1 }],
    ],
  ],
  [
    'one more after a second',
    [
      [0, 3, true, {}],
      [999, 1, true, { remaining: 0 }],
      [0, 1, false, {}],
    ],
  ],
  [
    'not before, but for a hundredth of a call',
    [
      [0, 3, true, {}],
      [989, 1, false, { retryAfterSeconds: 1 }],
      [1, 1, true, {}],
    ],
  ],
  [
    'a cost at once',
    [
      [0, 2, true, { remaining: 1, resetSeconds: 2 }],
      [0, 2, false, { remaining: 1, retryAfterSeconds: 1, resetSeconds: 2 }],
      [0, 1, true, { remaining: 0 }],
    ],
  ],
  [
    'a cost above the burst, never',
    [
      [0, 4, false, { remaining: 3, resetSeconds: 0, retryAfterSeconds: 1 }],
      [60_000, 4, false, { remaining: 3 }],
    ],
  ],
  [
    'no more than the burst after a long time',
    [
      [0, 1, true, {}],
      [3_600_000, 3, true, { remaining: 0 }],
      [0, 1, false, {}],
    ],
  ],
  [
    'what is left after half of the time',
    [
      [0, 3, true, {}],
      [1500, 1, true, { remaining: 0, resetSeconds: 3 }],
      [500, 1, true, { resetSeconds: 3 }],
    ],
  ],
];

describe('[LIM-1] one call a second, three at once', () => {
  test.each(BURSTS)('%s', (_, calls) => {
    let nowMs = START_MS;
    const limiter = new RateLimiter({ perMinute: 60, burst: 3 }, () => nowMs);
    expect(limiter.costMax).toBe(3);
    for (const [afterMs, cost, allowed, told] of calls) {
      nowMs += afterMs;
      expect(limiter.take('a', cost)).toMatchObject({ allowed, limit: 3, ...told });
    }
  });

  test('a refused call names the wait for the cost of its retry', () => {
    const limiter = new RateLimiter({ perMinute: 60, burst: 3 }, () => START_MS);
    limiter.take('a', 2);
    expect(limiter.take('a', 2, 3)).toMatchObject({ allowed: false, retryAfterSeconds: 2 });
    expect(limiter.take('a', 1, 3)).toMatchObject({ allowed: true, retryAfterSeconds: 0 });
  });

  test('a rate of 600 a minute is one call in a tenth of a second, and a rate of 0 is none', () => {
    let nowMs = START_MS;
    const limiter = new RateLimiter({ perMinute: 600, burst: 1 }, () => nowMs);
    expect([limiter.take('a')?.allowed, limiter.take('a')?.allowed]).toEqual([true, false]);
    nowMs += 100;
    expect(limiter.take('a')?.allowed).toBe(true);
    const off = new RateLimiter({ perMinute: 0, burst: 1 }, () => nowMs);
    expect([off.take('a'), off.costMax]).toEqual([undefined, Number.POSITIVE_INFINITY]);
  });
});

describe('[AUTH-1, OAUTH-1] two wrong tries in ten seconds', () => {
  type Step = readonly [afterMs: number, wrong: boolean, retryAfterSeconds: number | undefined];
  test.each<[title: string, steps: readonly Step[]]>([
    [
      'are allowed, the third is not',
      [
        [0, true, undefined],
        [0, true, undefined],
        [0, false, 10],
      ],
    ],
    [
      'are allowed again once the first is older',
      [
        [0, true, undefined],
        [4000, true, undefined],
        [5999, false, 1],
        [1, false, undefined],
      ],
    ],
    [
      'and then only one',
      [
        [0, true, undefined],
        [4000, true, undefined],
        [6000, true, undefined],
        [0, false, 4],
      ],
    ],
  ])('%s', (_, steps) => {
    let nowMs = START_MS;
    const tries = new WrongTries({ triesMax: 2, windowMs: 10_000, now: () => nowMs });
    for (const [afterMs, wrong, retryAfterSeconds] of steps) {
      nowMs += afterMs;
      const over = retryAfterSeconds !== undefined;
      const refused = over ? { kind: 'rate_limited', limit: 2, retryAfterSeconds } : undefined;
      expect(refusedWith(() => tries.check(['other', 'a']))).toEqual(refused);
      expect([tries.isOver('a'), tries.isOver('other')]).toEqual([over, false]);
      if (wrong) tries.add(['a']);
    }
  });

  test('the wait is told in seconds, rounded up', () => {
    const tries = new WrongTries({ triesMax: 1, windowMs: 3_599_001, now: () => START_MS });
    tries.add(['a']);
    expect(refusedWith(() => tries.check(['a']))).toMatchObject({ retryAfterSeconds: 3600 });
  });

  test('of more guessers than are remembered, the one whose last try is oldest is forgotten', () => {
    const tries = new WrongTries({ triesMax: 1, windowMs: 10_000, now: () => START_MS });
    const names = Array.from({ length: limits.rateCallersMax }, (_, at) => `g${at}`);
    tries.add(names);
    tries.add(['g0']);
    expect([tries.isOver('g0'), tries.isOver('g1')]).toEqual([true, true]);
    tries.add(['new']);
    expect(['new', 'g0', 'g1', 'g2'].map((name) => tries.isOver(name))).toEqual([true, true, false, true]);
  });
});
