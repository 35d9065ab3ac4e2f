/** Clients that repeat what they have no answer for, while the hub is killed again and again: nothing is there twice. */
import { randomInt, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { accessToken, mirrorTool, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 6;
/** Of the second test, whose rounds have more to do. */
const AGENT_ROUNDS = Number(process.env['CAIRN_TEST_KEY_ROUNDS'] ?? 3);
const CLIENTS = 6;
/** Each kills hubs and starts them, which takes long on a busy machine. */
const TEST_MS = 180_000;

test(
  '[EVENT-2] over kills at any moment, each keyed request happens once and every repeat has its answer',
  async () => {
    const dataFolder = temporaryFolder();
    let hub: Hub = await startHub({ dataFolder });
    try {
      const owner = await account(hub);
      const bearer = await accessToken(hub, owner.email);
      let isOver = false;
      /** Answers by the content of the task: each repeat of it said the same. */
      const answers = new Map<string, Set<string>>();
      const post = async (content: string, key: string) => {
        const answer = await call(hub, '/api/tasks', {
          method: 'POST',
          headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
          body: JSON.stringify({ content }),
        }).catch(() => undefined);
        if (answer?.status === 201) answers.set(content, (answers.get(content) ?? new Set()).add(answer.text));
        else if (answer !== undefined) expect([409, 429, 503]).toContain(answer.status);
        return answer?.status === 201;
      };
      const client = async () => {
        while (!isOver) {
          const [content, key] = [randomUUID(), randomUUID()];
          while (!(await post(content, key))) await new Promise((resolve) => setTimeout(resolve, 20));
          // The answer may have been lost on the way just as well.
          if (randomInt(3) === 0) await post(content, key);
        }
      };
      const clients = Array.from({ length: CLIENTS }, client);
      for (let round = 0; round < ROUNDS; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, randomInt(50, 600)));
        await hub.kill();
        hub = await startHub({ dataFolder });
      }
      isOver = true;
      await Promise.all(clients);
      const contents: string[] = [];
      for (let page = 1; ; page += 1) {
        const answer = await call(hub, `/api/tasks?per_page=100&page=${page}`, {
          headers: { Authorization: `Bearer ${bearer}` },
        });
        const { data } = answer.json() as { data: { content: string }[] };
        contents.push(...data.map(({ content }) => content));
        if (data.length < 100) break;
      }
      expect(contents.toSorted()).toEqual([...answers.keys()].toSorted());
      expect([...answers.values()].filter(({ size }) => size !== 1)).toEqual([]);
      expect(contents.length).toBeGreaterThan(ROUNDS);
      expect(
        (await structured<{ tasks: unknown[] }>(hub, 'list_tasks', { limit: 1 }, owner.mcp_key)).tasks,
      ).toHaveLength(1);
      expect(await hub.stop()).toBe(0);
    } finally {
      await hub.kill();
    }
  },
  TEST_MS,
);

interface KeyedCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

/** What one client asks for, in order: each call reads what the one before it wrote. */
function callsOf(client: string, round: number): KeyedCall[] {
  const id = `${client}/${round}.md`;
  const moved = `${client}/moved-${round}.md`;
  const doc = `cairn://docs/notes/${client}`;
  return [
    { tool: 'sync_push', args: { path: id, content: `start of ${round}\n` } },
    { tool: 'edit', args: { id, append: 'twice?\n' } },
    { tool: 'edit', args: { id, old: 'twice?', new: 'twice? twice?' } },
    {
      tool: round === 0 ? 'write' : 'edit',
      args: round === 0 ? { id: doc, content: '0\n' } : { id: doc, append: `${round}\n` },
    },
    { tool: 'move', args: { id, to: moved } },
    { tool: 'remove', args: { ids: [moved] } },
    { tool: 'restore', args: { id: moved } },
    { tool: 'handoff_save', args: { project: client, topic: 'state', content: `after ${round}` } },
    { tool: 'remember', args: { fact: `${client} knows ${round}` } },
    { tool: 'change_tasks', args: { tasks: [{ id: 1, content: `by ${client} ${round}` }] } },
  ];
}

/** Checks that what the clients asked for in their rounds is there, and there once. */
async function checkOnce(hub: Hub, owner: string, rounds: ReadonlyMap<string, number>): Promise<void> {
  let sum = 0;
  for (const [name, done] of rounds) {
    for (let round = 0; round < done; round += 1) {
      const id = `${name}/moved-${round}.md`;
      const { content } = await structured<{ content: string }>(hub, 'read', { id }, owner);
      expect(content).toBe(`start of ${round}\ntwice? twice?\n`);
      const { versions } = await structured<{ versions: unknown[] }>(hub, 'history', { id }, owner);
      // Created, two edits, moved here, removed, restored.
      expect([id, versions.length]).toEqual([id, 6]);
    }
    const ofDoc = { title: name, category: 'notes' };
    const { doc } = await structured<{ doc: { content: string } }>(hub, 'get_dev_doc', ofDoc, owner);
    expect(doc.content).toBe(Array.from({ length: done }, (_, round) => `${round}\n`).join(''));
    const { handoff } = await structured<{ handoff: { version: number } }>(
      hub,
      'handoff_get',
      { project: name, topic: 'state' },
      owner,
    );
    expect([name, handoff.version]).toEqual([name, done]);
    sum += done;
  }
  const { facts } = await structured<{ facts: { fact: string }[] }>(hub, 'recall', { limit: 50 }, owner);
  expect(new Set(facts.map(({ fact }) => fact)).size).toBe(facts.length);
  const change = { tasks: [{ id: 1, completed: true }] };
  const { tasks } = await structured<{ tasks: { version: number }[] }>(hub, 'change_tasks', change, owner);
  expect(tasks[0]?.version).toBe(sum + 2);
}

test(
  '[EVENT-2] over kills at any moment, each keyed change of an agent happens once: files, documents, facts',
  async () => {
    const dataFolder = temporaryFolder();
    let hub: Hub = await startHub({ dataFolder });
    try {
      const { mcp_key: owner } = await account(hub);
      await structured(hub, 'create_task', { content: 'shared' }, owner);
      let isOver = false;
      const rounds = new Map<string, number>();
      const differing: string[] = [];
      /** The text of the answer; undefined: none came, or the same call runs. */
      const ask = async ({ tool, args }: KeyedCall, key: string) => {
        const answer = await mirrorTool(hub, tool, args, { ...withKey(owner), 'Idempotency-Key': key }).catch(
          () => undefined,
        );
        if (answer === undefined || [409, 429, 503].includes(answer.status)) return undefined;
        expect([tool, answer.status, answer.text]).toEqual([tool, 200, answer.text]);
        return answer.text;
      };
      const client = async (_: unknown, index: number) => {
        const name = `client-${index}`;
        for (let round = 0; !isOver; round += 1) {
          for (const one of callsOf(name, round)) {
            const key = randomUUID();
            let first = await ask(one, key);
            for (; first === undefined; first = await ask(one, key)) await new Promise((go) => setTimeout(go, 20));
            // The answer may have been lost on the way just as well.
            const again = randomInt(3) === 0 ? await ask(one, key) : first;
            if (again !== undefined && again !== first) differing.push(`${one.tool}: ${first} then ${again}`);
          }
          rounds.set(name, round + 1);
        }
      };
      const clients = Array.from({ length: CLIENTS }, client);
      for (let round = 0; round < AGENT_ROUNDS; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, randomInt(50, 900)));
        await hub.kill();
        hub = await startHub({ dataFolder });
      }
      isOver = true;
      await Promise.all(clients);
      expect(differing).toEqual([]);
      expect(rounds.size).toBe(CLIENTS);
      await checkOnce(hub, owner, rounds);
      expect(await hub.stop()).toBe(0);
    } finally {
      await hub.kill();
    }
  },
  TEST_MS,
);
