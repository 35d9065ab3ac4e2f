/**
 * What an operation costs the hub's thread, as a multiple of a bare route in the same run. The table holds what was
 * measured; above twice that, something became dear. Ratios only: both sides meet the same machine.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessToken, GATEWAY, toolRequest } from '../support/gateway.ts';
import { AGENT } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { costOf, type Repeated } from '../support/thread-cost.ts';

/** Multiples of `GET /health`; see bench/README.md. */
const COSTS = {
  create_task: 13,
  'GET /api/tasks/1': 2.2,
  'list_tasks, the same again': 3.5,
  'refused: no such task': 2.2,
  'refused: a field by a wrong name': 5.2,
  'refused: a tool by a wrong name': 3.5,
} as const;

type Name = keyof typeof COSTS;

const REQUESTS = 3000;
const ROUNDS = 3;

let hub: Hub;
let headers: Readonly<Record<string, string>>;
let bearer: Readonly<Record<string, string>>;
beforeAll(async () => {
  hub = await startHub({ env: { CAIRN_RATE_LIMIT: '0' } });
  const email = 'costs@example.org';
  const { mcp_key: key } = await account(hub, email);
  const token = await accessToken(hub, email);
  headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT, 'Content-Type': 'application/json' };
  bearer = { Authorization: `Bearer ${token}`, 'User-Agent': AGENT };
  // Compiled code is what is measured, and as much of it as a busy hub has.
  for (const name of Object.keys(COSTS) as Name[]) await costOf(hub, requestOf(name), REQUESTS);
}, 300_000);
afterAll(() => hub.stop());

const DUE = { due_date: '2026-12-01' };

function requestOf(name: Name): Repeated {
  const tool = (called: string, args: Record<string, unknown>): Repeated => ({
    path: GATEWAY,
    headers,
    body: JSON.stringify(toolRequest(1, called, args)),
  });
  switch (name) {
    case 'GET /api/tasks/1':
      return { path: '/api/tasks/1', headers: bearer };
    case 'list_tasks, the same again':
      return tool('list_tasks', { limit: 25 });
    case 'create_task':
      return tool('create_task', { content: 'Renew the certificate', ...DUE });
    case 'refused: no such task':
      return { path: '/api/tasks/999999999', headers: bearer, status: 404 };
    case 'refused: a field by a wrong name':
      return tool('create_task', { contnet: 'Renew the certificate', ...DUE });
    case 'refused: a tool by a wrong name':
      return tool('creat_tasks', { content: 'Renew the certificate', ...DUE });
  }
}

/** The least of some rounds: other work only adds to a time. */
async function least(request: Repeated): Promise<number> {
  let cost = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) cost = Math.min(cost, await costOf(hub, request, REQUESTS));
  return cost;
}

test.each(Object.keys(COSTS) as Name[])(
  '[NET-16] %s costs less than twice what it did',
  { retry: 1, timeout: 300_000 },
  async (name) => {
    const bare = await least({ path: '/health', headers: { 'User-Agent': AGENT } });
    const ratio = (await least(requestOf(name))) / bare;
    expect(ratio).toBeLessThan(2 * COSTS[name]);
  },
);

test.each([
  ['refused: no such task', 'GET /api/tasks/1'],
  ['refused: a field by a wrong name', 'create_task'],
  ['refused: a tool by a wrong name', 'create_task'],
] as const)(
  '[NET-16] %s costs at most half more than %s',
  { retry: 1, timeout: 300_000 },
  async (refused, accepted) => {
    const [less, more] = [await least(requestOf(refused)), await least(requestOf(accepted))];
    expect(less).toBeLessThan(1.5 * more);
  },
);
