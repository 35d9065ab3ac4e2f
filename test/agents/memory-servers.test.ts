/** The scenarios of other memory servers, by their own documents and tests, at the door for models. */
import { expect, test } from 'vitest';
import { GRAPH, NOTES, type Scenario } from '../support/memory-servers.ts';
import { account } from '../support/mirror.ts';
import { totalOf } from '../support/role-play.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

/** Ours, each with what it must say; the calls of both. */
async function played(email: string, scenarios: readonly Scenario[]): Promise<{ ours: number; theirs: number }> {
  const { mcp_key: key } = await account(hub, email);
  const sum = { ours: 0, theirs: 0 };
  for (const { what, says, before, after } of scenarios) {
    const { said } = await totalOf(hub, '/mcp', key, after);
    expect([what, said]).toEqual([what, expect.stringMatching(says)]);
    sum.ours += after.length;
    sum.theirs += before.length;
  }
  return sum;
}

test('[FIND-6, MCP-8] what Anthropic’s memory server does with entities, observations and relations is done with facts', async () => {
  const { ours, theirs } = await played('graph@example.org', GRAPH);
  // Two more, where a call of theirs takes several, and one to find what is to go; one less, where one corrects.
  expect(ours - theirs).toBe(2);
});

test('[FIND-3, MCP-8] what Basic Memory does with notes is done with files of a vault, in as many calls', async () => {
  const { ours, theirs } = await played('notes@example.org', NOTES);
  expect(ours).toBe(theirs);
});
