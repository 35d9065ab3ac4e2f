/** A body that cannot be read to its end: the connection ends, and the log says why, once. */
import { request } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import type { FrontDoor } from '../../../src/http/front-door.ts';
import { feedOf } from '../../../src/http/reply/feed.ts';
import { feed, type Reply, stream } from '../../../src/http/reply/reply.ts';
import type { Route } from '../../../src/http/route/route.ts';
import { frontDoor } from '../../support/front-door.ts';

const FIRST = Buffer.from('the first bytes');

/** A source that gives its first bytes, and then what `next` does. */
const broken = (next: () => Uint8Array): Reply =>
  stream(200, { bytesTotal: 1000, read: (offset) => (offset === 0 ? FIRST : next()) }, {});

const fails = (): never => {
  throw new Error('the disk is gone');
};
const replies: Readonly<Record<string, () => Reply>> = {
  '/throws': () => broken(fails),
  '/ends-early': () => broken(() => new Uint8Array(0)),
  '/feed': () => feed(200, feedOf([Promise.resolve(['one']), Promise.reject(new Error('the disk is gone'))]), {}),
  '/damaged': () =>
    broken(() => {
      throw new Refusal({ kind: 'damaged' });
    }),
};

let door: FrontDoor;
let port: number;
let lines: Record<string, unknown>[] = [];

beforeAll(() => {
  const routes = Object.entries(replies).map(
    ([path, handle]): Route => ({
      method: 'GET',
      path,
      access: 'open',
      body: { kind: 'none' },
      doc: 'page',
      handle,
    }),
  );
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  door = frontDoor({ routes, log });
  port = door.listen('127.0.0.1', 0);
});

afterAll(() => door.drain(1));

/** Whether an answer came whole. */
function isWhole(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { 'User-Agent': 'test/1', 'X-Request-Id': `id-of${path.slice(1)}` };
    const sent = request({ port, host: '127.0.0.1', path, headers }, (answer) => {
      answer.resume().once('close', () => resolve(answer.complete));
      answer.once('error', () => undefined);
    });
    sent.once('error', () => resolve(false));
    sent.end();
  });
}

test.each(['/throws', '/ends-early', '/feed'])(
  '[NET-6, OPS-4] of %s the connection ends, and the log says why',
  async (path) => {
    lines = [];
    expect(await isWhole(path)).toBe(false);
    await expect.poll(() => lines.filter(({ level }) => level === 50)).toHaveLength(1);
    const [line] = lines.filter(({ level }) => level === 50);
    expect(line).toMatchObject({ id: `id-of${path.slice(1)}`, route: path, msg: 'an answer was cut off' });
    expect(line?.['err']).toMatchObject({ message: expect.stringMatching(/the disk is gone|has none at 15/) });
  },
);

test('[NET-6, MIR-19] damaged bytes are told of where they are found, and not again here', async () => {
  lines = [];
  expect(await isWhole('/damaged')).toBe(false);
  await expect.poll(() => lines.length).toBeGreaterThan(0);
  expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
