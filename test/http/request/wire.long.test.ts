/** Every request of smuggling.ts straight to the hub, followed by another one: which of those behind it are requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { call } from '../../support/http.ts';
import { SERVED } from '../../support/http-probe.ts';
import { type Account, account } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';
import { CASES } from '../../support/smuggling.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

/** Whole requests with a body of a length that both sides see: what comes after the body is a request. */
const WHOLE: ReadonlySet<string> = new Set(
  Object.values(SERVED).flatMap((cases) => Object.keys(cases).map((name) => `after ${name}`)),
);

test.concurrent.each(Object.keys(CASES).map((name, at) => [name, at] as const))(
  '[NET-3, NET-13] sent to the hub itself: %s',
  async (name, at) => {
    const id = `wire-${at}`;
    const inner = head('GET /health HTTP/1.1', [`X-Request-Id: ${id}`]);
    const own = [`Authorization: McpKey ${owner.mcp_key}`, 'Content-Type: application/json'];
    const client = await rawClient(hub.port);
    client.send(Buffer.from(CASES[name]?.(inner, own) ?? '', 'latin1'));
    await Promise.race([client.received(1).catch(() => undefined), sleep(3000)]);
    await Promise.race([client.closed, sleep(700)]);
    const mark = `mark-${id}`;
    await call(hub, '/health', { headers: { 'X-Request-Id': mark } });
    await hub.waitForLog((line) => line['id'] === mark);
    // At most what is a request to every reader; the older build of the library closes some of these connections too.
    const isHandled = hub.logs.some((line) => line['id'] === id);
    expect([name, isHandled && !WHOLE.has(name)]).toEqual([name, false]);
    client.vanish();
  },
);
