/** A long answer that is in memory: sent in slices, as its reader takes them. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RequestLog } from '../../../src/http/measure/request-log.ts';
import { jsonText } from '../../../src/http/reply/reply.ts';
import type { Route } from '../../../src/http/route/route.ts';
import { frontDoor } from '../../support/front-door.ts';

/** More than the system buffers for a reader that reads nothing. */
const LARGE = '"é"'.repeat(4_000_000);
const paths: Readonly<Record<string, string>> = { '/large': LARGE, '/small': '{}' };
const routes = Object.entries(paths).map(
  ([path, text]): Route => ({
    method: 'GET',
    path,
    access: 'open',
    body: { kind: 'none' },
    doc: 'page',
    handle: () => jsonText(200, text),
  }),
);

let lines: Record<string, unknown>[] = [];
const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
const door = frontDoor({ routes, log, requestLog: new RequestLog({ log, access: undefined, slowMs: 0 }) });
let port: number;

beforeAll(() => {
  port = door.listen('127.0.0.1', 0);
});

afterAll(() => door.drain(1));

function read(path: string): Promise<{ readonly length: string | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', path, headers: { 'User-Agent': 'test/1' } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('error', reject);
      answer.once('end', () => {
        resolve({ length: answer.headers['content-length'], text: Buffer.concat(parts).toString() });
      });
    });
    outgoing.once('error', reject).end();
  });
}

test('[NET-12, NET-7] a long answer arrives whole', async () => {
  const { length, text } = await read('/large');
  expect(length).toBe(String(Buffer.byteLength(LARGE)));
  expect(text === LARGE).toBe(true);
});

test('[NET-12, NET-7] a long answer is not handed over before its reader takes it, and others are answered', async () => {
  lines = [];
  const idle = connect(port, '127.0.0.1');
  idle.pause();
  idle.write('GET /large HTTP/1.1\r\nHost: a\r\nUser-Agent: test/1\r\n\r\n');
  await new Promise((resolve) => idle.once('readable', resolve));
  for (let count = 0; count < 20; count += 1) expect((await read('/small')).text).toBe('{}');
  expect(lines.filter(({ route }) => route === '/large')).toEqual([]);
  idle.destroy();
  await expect.poll(() => lines.filter(({ route }) => route === '/large')).toHaveLength(1);
  expect(Number(lines.find(({ route }) => route === '/large')?.['bytes_out'])).toBeLessThan(Buffer.byteLength(LARGE));
});
