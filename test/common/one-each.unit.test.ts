/** Work of one caller runs one after another. */
import { expect, test, vi } from 'vitest';
import { OneEach } from '../../src/common/fair/one-each.ts';

test('[NET-11] work of one caller runs one after another, and that of another caller beside it', async () => {
  const each = new OneEach();
  const events: string[] = [];
  const open: (() => void)[] = [];
  const work = (name: string) => () => {
    events.push(`${name} begins`);
    return new Promise<void>((resolve) => open.push(resolve)).then(() => void events.push(`${name} ends`));
  };
  const all = [each.run('a', work('a1')), each.run('a', work('a2')), each.run('b', work('b1'))];
  await Promise.resolve();
  expect(events).toEqual(['a1 begins', 'b1 begins']);
  for (const end of open.splice(0)) end();
  await Promise.all([all[0], all[2]]);
  expect(events.slice(2).toSorted()).toEqual(['a1 ends', 'a2 begins', 'b1 ends']);
  for (const end of open.splice(0)) end();
  await Promise.all(all);
  expect(each.callers).toBe(0);
});

test('[NET-11] work that fails tells its caller, and the next one runs', async () => {
  const each = new OneEach();
  const failed = each.run('a', () => Promise.reject(new Error('no')));
  const next = each.run('a', () => Promise.resolve('done'));
  await expect(failed).rejects.toThrow('no');
  await expect(next).resolves.toBe('done');
  expect(each.callers).toBe(0);
});

test('[NET-15] the next work of a caller begins after the rest that the last one asked for; others do not wait for it', async () => {
  vi.useFakeTimers();
  try {
    const each = new OneEach();
    const begun: string[] = [];
    const work = (name: string) => () => {
      begun.push(name);
      return Promise.resolve(name);
    };
    const restMs = () => 100;
    expect(await each.run('a', work('a1'), restMs)).toBe('a1');
    const next = each.run('a', work('a2'), restMs);
    await each.run('b', work('b1'), restMs);
    await vi.advanceTimersByTimeAsync(99);
    expect(begun).toEqual(['a1', 'b1']);
    await vi.advanceTimersByTimeAsync(1);
    expect([await next, begun]).toEqual(['a2', ['a1', 'b1', 'a2']]);
    await vi.advanceTimersByTimeAsync(100);
    expect(each.callers).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
