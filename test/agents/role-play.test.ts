/**
 * The tasks of a working agent at both doors. Calls and tokens are counted as Claude Code shows them to its model (the
 * structured half), and as other clients do (the text).
 */
import { beforeAll, expect, test } from 'vitest';
import { readTopic } from '../../src/common/manual.ts';
import { account } from '../support/mirror.ts';
import { prepareRolePlay, TASKS, totalOf } from '../support/role-play.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let key = '';

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
  await prepareRolePlay(hub, key);
});

test('[MCP-8, RPC-8] the tasks of an agent: each is done in one call, in at most half of the tokens, at the door for models', async () => {
  const sum = { before: { calls: 0, structured: 0, text: 0 }, after: { calls: 0, structured: 0, text: 0 } };
  for (const { what, says, before, after } of TASKS) {
    for (const [side, door, calls] of [
      ['before', '/api/mcp', before],
      ['after', '/mcp', after],
    ] as const) {
      const cost = await totalOf(hub, door, key, calls);
      for (const member of ['calls', 'structured', 'text'] as const) sum[side][member] += cost[member];
      if (side === 'after') expect([what, cost.said]).toEqual([what, expect.stringMatching(says)]);
    }
  }
  expect(TASKS.length).toBeGreaterThan(30);
  expect(sum.after.structured * 2).toBeLessThanOrEqual(sum.before.structured);
  expect(sum.after.text * 2).toBeLessThanOrEqual(sum.before.text);
  // Each takes one call, but for what is remembered and then recalled.
  expect(sum.after.calls).toBe(TASKS.length + 1);
  expect(sum.after.calls / sum.before.calls).toBeLessThan(0.6);
});

test('[MAN-7] the prompts of the manual are tasks of the role-play, with the tools that it calls', () => {
  const shown = [...readTopic('prompts').text.matchAll(/^> (.+)\n\nTools: ((?:`\w+`(?:, )?)+)\./gm)];
  const told = shown.map(([, prompt, tools = '']) => [prompt, tools.replaceAll('`', '').split(', ')]);
  const played = TASKS.filter(({ prompt }) => prompt !== undefined);
  expect(told).toHaveLength(10);
  expect(new Map(told as [string, string[]][])).toEqual(
    new Map(played.map(({ prompt, after }) => [prompt, [...new Set(after.map(([tool]) => tool))]])),
  );
});
