/**
 * What many clients see over several fronts, some of which end meanwhile, is what one register a task would have shown: a read
 * that began after an answered write never misses it. FRONT_HISTORIES sets how many histories.
 */
import { afterAll, expect, test } from 'vitest';
import { Connection, type HubWithFronts, startWithFronts } from '../support/fronts.ts';
import { randomOf } from '../support/random.ts';
import { isLinearizable, type RegisterOperation } from '../support/register-model.ts';
import { seed } from '../support/seed.ts';

const HISTORIES = Number(process.env['FRONT_HISTORIES'] ?? 150);
const FRONTS = 3;
const CLIENTS = 6;
const STEPS = 6;
/** After this many histories a front ends, again and again. */
const CRASH_EVERY = 25;

interface Task {
  readonly id: number;
  readonly content: string;
}

let hub: HubWithFronts | undefined;
afterAll(async () => {
  await hub?.stop();
});

test(`[TASK-5] histories over ${FRONTS} fronts are linearizable (seed ${seed})`, { timeout: 1_800_000 }, async () => {
  const on = await startWithFronts(FRONTS);
  hub = on;
  const random = randomOf(seed);
  const made = await on.cli('account', 'create', '--email', 'fronts@example.org', '--json');
  const { mcp_key: key } = JSON.parse(made.stdout) as { mcp_key: string };
  const minted = await on.cli('token', 'create', '--email', 'fronts@example.org', '--json');
  const { access_token: token } = JSON.parse(minted.stdout) as { access_token: string };
  const byKey = Array.from({ length: CLIENTS }, () => new Connection(on, { Authorization: `McpKey ${key}` }));
  const byToken = Array.from({ length: CLIENTS }, () => new Connection(on, { Authorization: `Bearer ${token}` }));
  const first = byKey[0] as Connection;
  const lost: string[] = [];
  for (let history = 0; history < HISTORIES; history += 1) {
    const create = () => first.tool<{ task: Task }>('create_task', { content: 'begin' });
    // A front that ended in the history before may cut this one off.
    const { task } = await create().catch(create);
    const operations: RegisterOperation[] = [];
    const reads = {
      list: async (client: number) => {
        const { tasks } = await (byKey[client] as Connection).tool<{ tasks: Task[] }>('list_tasks', { limit: 500 });
        return tasks.find(({ id }) => id === task.id)?.content;
      },
      get: async (client: number) => {
        const { text } = await (byToken[client] as Connection).send('GET', `/api/tasks/${task.id}`);
        return (JSON.parse(text) as Task).content;
      },
      page: async (client: number) => {
        const path = '/api/tasks?sort_by=created_at';
        const { text } = await (byToken[client] as Connection).send('GET', path);
        return (JSON.parse(text) as { data: Task[] }).data.find(({ id }) => id === task.id)?.content;
      },
    };
    const kinds = Object.keys(reads) as (keyof typeof reads)[];
    const run = async (client: number, choices: readonly number[]) => {
      for (const [step, choice] of choices.entries()) {
        const calledMs = performance.now();
        const value = `${client}.${step}`;
        try {
          if (choice < 0.4) {
            await (byKey[client] as Connection).tool('update_task', { id: task.id, content: value });
            operations.push({ kind: 'write', value, calledMs, answeredMs: performance.now() });
          } else {
            const kind = kinds[Math.floor(((choice - 0.4) / 0.6) * kinds.length)] ?? 'list';
            const seen = (await reads[kind](client)) ?? 'nothing';
            operations.push({ kind: 'read', value: seen, calledMs, answeredMs: performance.now() });
          }
        } catch (error) {
          lost.push(String(error));
          if (choice < 0.4) {
            operations.push({ kind: 'write', value, calledMs, answeredMs: Number.POSITIVE_INFINITY });
          }
        }
      }
    };
    if (history % CRASH_EVERY === CRASH_EVERY - 1) on.crash(1 + Math.floor(random() * FRONTS));
    const steps = Array.from({ length: CLIENTS }, () => Array.from({ length: STEPS }, () => random()));
    await Promise.all(steps.map((choices, client) => run(client, choices)));
    expect([history, isLinearizable(operations, 'begin'), operations]).toEqual([history, true, operations]);
    await first.tool('delete_task', { id: task.id }).catch(() => undefined);
  }
  for (const connection of [...byKey, ...byToken]) connection.close();
  const restarted = on.logs.filter(({ msg }) => String(msg).startsWith('a front ended on its own'));
  expect(restarted.length).toBeGreaterThan(0);
  // Only who was connected to a front that ended was cut off.
  expect([lost.length <= restarted.length * 2 * CLIENTS, lost]).toEqual([true, lost]);
  expect(on.logs.filter(({ msg }) => String(msg).includes('failed unexpectedly'))).toEqual([]);
});
