/** The requests that tell of a change, in the form of each service; and the queue that sends them, to a real HTTP server. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { formatOf, type OperatorNotice, requestOf } from '../../src/ops/conditions/notice.ts';
import { Notifier } from '../../src/ops/conditions/notifier.ts';

const BEGUN: OperatorNotice = {
  title: 'Cairn on h: Disk 90% full',
  text: 'Add <space> & wait.',
  severity: 'warning',
  isAllClear: false,
};
const CRITICAL: OperatorNotice = { ...BEGUN, severity: 'critical' };
const OVER: OperatorNotice = {
  title: 'Cairn on h: over: Disk 90% full',
  text: 'It is over.',
  severity: 'over',
  isAllClear: true,
};

test.each([
  ['https://ntfy.sh/topic', 'text'],
  ['https://ntfy.example.org/hooks.slack.com', 'text'],
  ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
  ['https://hc-ping.com/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278', 'healthchecks'],
  ['https://hooks.slack.com.example.org/services', 'text'],
])('[OPS-28] notices to %s have the format %s', (url, format) => {
  expect(formatOf(url)).toBe(format);
});

test('[OPS-28] plain text has its title, priority and tags in headers', () => {
  expect(requestOf('https://ntfy.sh/topic?x=1', 'text', CRITICAL)).toEqual({
    url: 'https://ntfy.sh/topic?x=1',
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      Title: 'Cairn on h: Disk 90% full',
      Priority: 'urgent',
      Tags: 'rotating_light',
    },
    body: 'Add <space> & wait.',
  });
  expect(requestOf('https://ntfy.sh/topic', 'text', BEGUN).headers).toMatchObject({
    Priority: 'high',
    Tags: 'warning',
  });
  expect(requestOf('https://ntfy.sh/topic', 'text', OVER).headers).toMatchObject({
    Priority: 'default',
    Tags: 'white_check_mark',
  });
});

test('[OPS-28] Slack gets JSON with escaped text', () => {
  const { headers, body } = requestOf('https://hooks.slack.com/services/x', 'slack', BEGUN);
  expect(headers).toEqual({ 'Content-Type': 'application/json' });
  expect(JSON.parse(body)).toEqual({ text: 'Cairn on h: Disk 90% full\nAdd &lt;space&gt; &amp; wait.' });
});

test.each([
  ['begins', BEGUN, '/uuid/fail'],
  ['ends while another holds', { ...OVER, isAllClear: false }, '/uuid/log'],
  ['ends as the last one', OVER, '/uuid'],
])('[OPS-28] a check gets a ping when a condition %s', (_what, notice, path) => {
  for (const url of ['https://hc-ping.com/uuid?a=b', 'https://hc-ping.com/uuid/?a=b']) {
    expect(requestOf(url, 'healthchecks', notice)).toMatchObject({
      url: `https://hc-ping.com${path}?a=b`,
      body: `${notice.title}\n${notice.text}`,
    });
  }
});

test('[OPS-28] user and password of the address go into a header', () => {
  const { url, headers } = requestOf('https://me:p%40ss@ntfy.example.org/t', 'text', BEGUN);
  expect(url).toBe('https://ntfy.example.org/t');
  expect(headers['Authorization']).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
});

interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
});

/** A server that answers with these statuses in turn, then 200; `Location` leads to itself. */
async function receiver(statuses: number[]): Promise<{ url: string; got: Got[]; count: (n: number) => Promise<void> }> {
  const got: Got[] = [];
  let heard = () => {};
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(statuses.shift() ?? 200, { Location: '/elsewhere' }).end('ok');
      heard();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const count = async (n: number) => {
    while (got.length < n) {
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
  };
  return { url: `http://127.0.0.1:${port}/a-secret-topic`, got, count };
}

function logged() {
  const lines: string[] = [];
  let heard = () => {};
  const log = pino(
    {},
    {
      write: (line: string) => {
        lines.push(line);
        heard();
      },
    },
  );
  const next = async (words: string) => {
    while (!lines.some((line) => line.includes(words))) {
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
  };
  return { log, lines, next };
}

test('[OPS-28] a notice that is refused for now is sent again, those behind it after it, and the address is not logged', async () => {
  const { url, got, count } = await receiver([503]);
  const { log, lines } = logged();
  const notifier = new Notifier({ url, format: 'text', log });
  notifier.send(BEGUN);
  notifier.send(OVER);
  await count(3);
  await notifier.close();
  expect(got.map(({ headers }) => headers['title'])).toEqual([BEGUN.title, BEGUN.title, OVER.title]);
  expect(lines.join()).toMatch(
    /"status":503,"tries":1,"msg":"a notice to CAIRN_NOTIFY_URL could not be sent; trying again"/,
  );
  expect(lines.join()).not.toContain('a-secret-topic');
});

test.each([301, 307, 308, 400, 401, 404])(
  '[OPS-28] %i is final: no redirect is followed, and the next notice is sent',
  async (status) => {
    const { url, got, count } = await receiver([status]);
    const { log, lines, next } = logged();
    const notifier = new Notifier({ url, format: 'slack', log });
    notifier.send(BEGUN);
    await next('dropped');
    notifier.send(OVER);
    await count(2);
    await notifier.close();
    expect(got.map(({ path }) => path)).toEqual(['/a-secret-topic', '/a-secret-topic']);
    expect(lines.join()).toContain(
      `"status":${status},"tries":1,"msg":"a notice to CAIRN_NOTIFY_URL could not be sent and was dropped"`,
    );
  },
);

test('[OPS-28] where nobody listens the code is logged, and a stop drops what waits', async () => {
  const { log, lines, next } = logged();
  const notifier = new Notifier({ url: 'http://127.0.0.1:9/a-secret-topic', format: 'text', log });
  notifier.send(BEGUN);
  notifier.send(OVER);
  await next('trying again');
  await notifier.close();
  notifier.send(OVER);
  expect(lines.join()).toMatch(/"code":"[A-Za-z_]+","tries":1/);
  expect(lines.join()).toContain('"notices":1,"msg":"the hub stops; notices that waited to be sent were dropped"');
  expect(lines.join()).not.toContain('a-secret-topic');
});
