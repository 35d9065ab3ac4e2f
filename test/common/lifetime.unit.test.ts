/** How the parts of a service are closed: in reverse, once, whatever one of them does. */
import { expect, test, vi } from 'vitest';
import { Lifetime } from '../../src/common/lifetime.ts';

function open() {
  const logged: [level: string, part: unknown][] = [];
  const note = (level: string) => (fields: unknown) => void logged.push([level, (fields as { part: string }).part]);
  const life = new Lifetime({ warn: note('warn'), error: note('error') } as never);
  return { life, logged, closed: [] as string[] };
}

test('[OPS-3] parts are closed in the reverse order of their opening, each after the one before has closed', async () => {
  const { life, logged, closed } = open();
  for (const name of ['store', 'pool', 'doors']) {
    const part = life.own(name, {
      async close() {
        closed.push(`${name} closes`);
        await new Promise((resolve) => setImmediate(resolve));
        closed.push(`${name} closed`);
      },
    });
    expect(part).toHaveProperty('close');
  }
  await life.end();
  const order = ['doors', 'pool', 'store'].flatMap((name) => [`${name} closes`, `${name} closed`]);
  expect([closed, logged]).toEqual([order, []]);
});

test('[OPS-3] each part is closed once, however often the end is asked for', async () => {
  const { life, closed } = open();
  life.onEnd('one', () => closed.push('one'));
  const [first, second] = [life.end(), life.end()];
  expect(second).toBe(first);
  await Promise.all([first, second, life.end()]);
  expect(closed).toEqual(['one']);
});

test.each([
  ['throws', () => Promise.reject(new Error('late'))],
  [
    'throws at once',
    () => {
      throw new Error('late');
    },
  ],
])(
  '[OPS-3] a close that %s is logged by name, does not stop the others, and is told at the end',
  async (_how, fail) => {
    const { life, logged, closed } = open();
    life.onEnd('store', () => closed.push('store'));
    life.onEnd('mail', fail);
    life.onEnd('pool', () => Promise.reject(new Error('early')));
    await expect(life.end()).rejects.toThrow('early');
    expect(logged).toEqual([
      ['error', 'pool'],
      ['error', 'mail'],
    ]);
    expect(closed).toEqual(['store']);
  },
);

test('[OPS-3] a close that hangs is named once it has taken longer than its patience, and only that one', async () => {
  vi.useFakeTimers();
  try {
    const { life, logged, closed } = open();
    let release: () => void = () => undefined;
    life.onEnd('store', () => closed.push('store'));
    life.onEnd('requests', () => new Promise<void>((resolve) => (release = resolve)), 30_000);
    life.onEnd('mail', () => undefined);
    const ended = life.end();
    await vi.advanceTimersByTimeAsync(29_999);
    expect(logged).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([logged, closed]).toEqual([[['warn', 'requests']], []]);
    release();
    await ended;
    expect(closed).toEqual(['store']);
  } finally {
    vi.useRealTimers();
  }
});
