/** Clients that repeat what they have no answer for, while the hub is killed again and again: nothing is there twice. */
import { randomInt, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { accessToken, structured } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 6;
const CLIENTS = 6;

test('[EVENT-2] over kills at any moment, each keyed request happens once and every repeat has its answer', async () => {
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
    expect((await structured<{ tasks: unknown[] }>(hub, 'list_tasks', { limit: 1 }, owner.mcp_key)).tasks).toHaveLength(
      1,
    );
    expect(await hub.stop()).toBe(0);
  } finally {
    await hub.kill();
  }
});
