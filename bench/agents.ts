/** What do the tasks of a working agent cost a model: calls and tokens, with the tools for programs and at the door for models? */
import { PASSWORD, structured } from '../test/support/gateway.ts';
import { prepareRolePlay, TASKS, type TaskCost, totalOf } from '../test/support/role-play.ts';
import { startCairn } from './peers/cairn.ts';
import { type Bench, type Row, runWhenStarted } from './report.ts';

/** Of the tokens that the same tasks took before (issue of the door for models). */
const TARGET = 0.5;

type Cost = Omit<TaskCost, 'said'>;

export const agents: Bench = async () => {
  const hub = await startCairn({ CAIRN_LOG_LEVEL: 'warn' });
  try {
    const person = { email: 'bench@example.org', password: PASSWORD };
    const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', person);
    await prepareRolePlay(hub, key);
    const rows: Row[] = [];
    let [then, now] = [NOTHING, NOTHING];
    for (const { what, says, before, after } of TASKS) {
      const earlier = await totalOf(hub, '/api/mcp', key, before);
      const made = await totalOf(hub, '/mcp', key, after);
      if (!says.test(made.said)) throw new Error(`${what}: a wrong answer: ${made.said}`);
      rows.push(row(what, made, earlier));
      [then, now] = [plus(then, earlier), plus(now, made)];
    }
    return [...rows, row(`all ${TASKS.length} tasks`, now, then, TARGET)];
  } finally {
    await hub.stop();
  }
};

const NOTHING: Cost = { calls: 0, structured: 0, text: 0 };

function plus(one: Cost, other: Cost): Cost {
  return {
    calls: one.calls + other.calls,
    structured: one.structured + other.structured,
    text: one.text + other.text,
  };
}

function row(question: string, now: Cost, then: Cost, target?: number): Row {
  const shown = ({ calls, structured: tokens, text }: Cost) => `${calls} calls, ${tokens} tokens (text ${text})`;
  return {
    question,
    cairn: shown(now),
    yardstick: `tools for programs ${shown(then)}`,
    ratio: (now.structured / then.structured).toFixed(2),
    target: target === undefined ? '' : `≤ ${target}`,
    reached: target === undefined ? undefined : now.structured <= target * then.structured,
  };
}

await runWhenStarted(import.meta.url, agents);
