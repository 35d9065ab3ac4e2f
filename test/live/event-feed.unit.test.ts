/** The form of server-sent events, what a slow reader gets, and how a feed ends. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { EventFeed } from '../../src/live/event-feed.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('[MCP-6, WEB-8] events have the form of the standard, in order, and an end sends what waits', async () => {
  const feed = new EventFeed({ beatMs: 1000 });
  feed.send({ event: 'message', data: '{"a":1}' });
  feed.send({ event: 'change', data: '{}', id: 'x.1' });
  expect(await feed.next()).toEqual(['event: message\ndata: {"a":1}\n\nid: x.1\nevent: change\ndata: {}\n\n']);
  feed.send({ event: 'message', data: 'last' });
  feed.end();
  feed.send({ event: 'message', data: 'too late' });
  expect([await feed.next(), await feed.next()]).toEqual([['event: message\ndata: last\n\n'], undefined]);
});

test('[MCP-6, WEB-8] a quiet feed gets keep-alives, one at most where nobody reads', async () => {
  const beats: number[] = [];
  const feed = new EventFeed({ beatMs: 1000, onBeat: () => beats.push(Date.now()), beat: () => 'retry: 5\n\n' });
  vi.advanceTimersByTime(3000);
  expect([beats.length, await feed.next()]).toEqual([3, ['retry: 5\n\n']]);
  const plain = new EventFeed({ beatMs: 1000 });
  vi.advanceTimersByTime(1000);
  expect(await plain.next()).toEqual([':\n\n']);
  feed.end();
  vi.advanceTimersByTime(5000);
  expect(beats.length).toBe(4);
});

test('[MCP-6, LIM-2] a reader that is too slow loses its feed, not the memory of the hub', async () => {
  const feed = new EventFeed({ beatMs: 1000 });
  const half = 'x'.repeat(limits.eventBytesWaitingMax / 2);
  expect([feed.send({ event: 'm', data: half }), feed.send({ event: 'm', data: half })]).toEqual([true, false]);
  expect(await feed.next()).toBeUndefined();
});

test('[WEB-8] the newest event is made when the reader takes it, so a slow one gets one for many changes', async () => {
  let count = 0;
  let told = 0;
  const newest = () => {
    if (count === told) return undefined;
    told = count;
    return { event: 'change', data: String(count) };
  };
  const feed = new EventFeed({ beatMs: 1000, newest });
  const first = feed.next();
  count = 1;
  feed.refresh();
  expect(await first).toEqual(['event: change\ndata: 1\n\n']);
  count = 2;
  feed.refresh();
  count = 3;
  feed.refresh();
  expect(await feed.next()).toEqual(['event: change\ndata: 3\n\n']);
});
