/** Histories of many clients over several fronts: each writes and reads one new task, in three ways of reading. */
import { Connection, type HubWithFronts } from '../support/fronts.ts';
import type { RegisterOperation } from '../support/register-model.ts';

const CLIENTS = 6;
const STEPS = 6;
const WRITES = 0.4;
/** What the task holds before the first write. */
export const FIRST = 'begin';

interface Task {
  readonly id: number;
  readonly content: string;
}

type Read = (client: number, id: number) => Promise<string | undefined>;

export interface Histories {
  readonly clients: number;
  /** Errors of calls that a front took along. */
  readonly lost: readonly string[];
  /** Runs one history and returns what each client did and saw. `random`: from 0 to 1. */
  run(random: () => number): Promise<readonly RegisterOperation[]>;
  close(): void;
}

export async function openHistories(on: HubWithFronts): Promise<Histories> {
  const email = ['--email', 'fronts@example.org', '--json'];
  const { mcp_key: key } = JSON.parse((await on.cli('account', 'create', ...email)).stdout) as { mcp_key: string };
  const minted = await on.cli('token', 'create', ...email);
  const { access_token: token } = JSON.parse(minted.stdout) as { access_token: string };
  const connect = (authorization: string) =>
    Array.from({ length: CLIENTS }, () => new Connection(on, { Authorization: authorization }));
  const [byKey, byToken] = [connect(`McpKey ${key}`), connect(`Bearer ${token}`)];
  const tool = <T>(client: number, name: string, args: object) => (byKey[client] as Connection).tool<T>(name, args);
  const get = async <T>(client: number, path: string) =>
    JSON.parse((await (byToken[client] as Connection).send('GET', path)).text) as T;
  const contentOf = (tasks: readonly Task[], wanted: number) => tasks.find(({ id }) => id === wanted)?.content;
  const reads: readonly Read[] = [
    async (client, id) => contentOf((await tool<{ tasks: Task[] }>(client, 'list_tasks', { limit: 500 })).tasks, id),
    async (client, id) => (await get<Task>(client, `/api/tasks/${id}`)).content,
    async (client, id) => contentOf((await get<{ data: Task[] }>(client, '/api/tasks?sort_by=created_at')).data, id),
  ];
  const lost: string[] = [];
  const operate = async (client: number, step: number, choice: number, id: number) => {
    const calledMs = performance.now();
    const read = reads[Math.floor(((choice - WRITES) / (1 - WRITES)) * reads.length)];
    const [kind, written] = read === undefined ? (['write', `${client}.${step}`] as const) : (['read', ''] as const);
    try {
      if (read === undefined) await tool(client, 'update_task', { id, content: written });
      const value = read === undefined ? written : ((await read(client, id)) ?? 'nothing');
      return [{ kind, value, calledMs, answeredMs: performance.now() }];
    } catch (error) {
      lost.push(String(error));
      // A lost write may have taken effect; a lost read saw nothing.
      return read === undefined ? [{ kind, value: written, calledMs, answeredMs: Number.POSITIVE_INFINITY }] : [];
    }
  };
  return {
    clients: 2 * CLIENTS,
    lost,
    async run(random) {
      const create = () => tool<{ task: Task }>(0, 'create_task', { content: FIRST });
      // A front that ended in the history before may cut this one off.
      const { id } = (await create().catch(create)).task;
      const operations: RegisterOperation[] = [];
      const choices = Array.from({ length: CLIENTS }, () => Array.from({ length: STEPS }, () => random()));
      const act = async (own: readonly number[], client: number) => {
        for (const [step, choice] of own.entries()) operations.push(...(await operate(client, step, choice, id)));
      };
      await Promise.all(choices.map(act));
      await tool(0, 'delete_task', { id }).catch(() => undefined);
      return operations;
    },
    close() {
      for (const connection of [...byKey, ...byToken]) connection.close();
    },
  };
}
