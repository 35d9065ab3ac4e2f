/** What a request that is over leaves in the memory of the hub. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolRequest } from '../support/gateway.ts';
import { startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { costOf, type Repeated } from '../support/thread-cost.ts';

const WARM_UP = 100;
const REQUESTS = 600;
/** What dies once, like code that the engine takes back, falls into one of them; what each request leaves, into all. */
const ROUNDS = 4;
/** 500 to 860 were seen, and 2,700 to 3,100 while the set of the requests under way kept them (`src/http/bag.ts`). */
const DEAD_BYTES_MAX = 1600;

const file = join(temporaryFolder(), 'dead-heap');
const probe = new URL('../support/dead-heap.mjs', import.meta.url).href;
const JSON_TYPE = { 'Content-Type': 'application/json', Accept: 'application/json', 'User-Agent': 'test' };

test('[NET-12] a request that is over is freed with the young objects, for an account and for a stranger', async () => {
  const hub = await startHub({ env: { NODE_OPTIONS: `--import=${probe}`, DEAD_HEAP_FILE: file } });
  const { mcp_key: key } = await account(hub);
  const kinds: Readonly<Record<string, Repeated>> = {
    list: {
      path: '/api/mcp',
      headers: { ...JSON_TYPE, Authorization: `McpKey ${key}` },
      body: JSON.stringify(toolRequest(1, 'list_tasks')),
    },
    registration: {
      path: '/oauth/register',
      headers: JSON_TYPE,
      body: JSON.stringify({ redirect_uris: ['https://client.example.org/back'] }),
      status: 201,
    },
  };
  let reports = 0;
  const dead = async () => {
    hub.process.kill('SIGUSR2');
    reports += 1;
    return await until('the hub tells how much of its heap is dead', () => {
      if (!existsSync(file)) return undefined;
      const told = JSON.parse(readFileSync(file, 'utf8')) as { reports: number; bytes: number };
      return told.reports === reports ? told.bytes : undefined;
    });
  };
  const told: Record<string, number[]> = {};
  for (const [name, request] of Object.entries(kinds)) {
    await costOf(hub, request, WARM_UP);
    await dead();
    told[name] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await costOf(hub, request, REQUESTS);
      told[name].push(Math.round((await dead()) / REQUESTS));
    }
  }
  await hub.stop();
  expect(Object.entries(told).filter(([, rounds]) => Math.min(...rounds) > DEAD_BYTES_MAX)).toEqual([]);
});
