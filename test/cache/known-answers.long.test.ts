/** Proves that an answer given again is the answer that would be made: exact under racing writes, bounded, and of its day. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openKnownResults, placeOfCall, type WrittenResult } from '../../src/gateway/known-results.ts';
import { limits } from '../../src/limits/service.ts';
import { accessToken, mirrorTool, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { seed } from '../support/seed.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

interface Task {
  readonly id: number;
  readonly content: string;
  readonly completed: boolean;
}

/** What one client does to tasks of its own, one after another; others write to the same account meanwhile. */
type Step = 'create' | 'complete' | 'reopen' | 'delete' | 'restore' | 'list' | 'listOpen' | 'mirror';

const steps = fc.array(
  fc.constantFrom<Step>('create', 'create', 'complete', 'reopen', 'delete', 'restore', 'list', 'listOpen', 'mirror'),
  { minLength: 5, maxLength: 25 },
);

/** A client that knows exactly which of its tasks are live, since nobody else touches them. */
class Client {
  readonly #key: string;
  readonly #name: string;
  readonly #live = new Map<number, boolean>();
  readonly #binned: number[] = [];

  constructor(key: string, name: string) {
    this.#key = key;
    this.#name = name;
  }

  async run(step: Step): Promise<void> {
    const [id] = this.#live.keys();
    if (step === 'create') {
      const made = await this.#write('create_task', { content: this.#name });
      this.#live.set(made.id, false);
    } else if ((step === 'complete' || step === 'reopen') && id !== undefined) {
      await this.#write('update_task', { id, completed: step === 'complete' });
      this.#live.set(id, step === 'complete');
    } else if (step === 'delete' && id !== undefined) {
      await structured(hub, 'delete_task', { id }, this.#key);
      this.#binned.push(id);
      this.#live.delete(id);
    } else if (step === 'restore') {
      const back = this.#binned.pop();
      if (back !== undefined)
        this.#live.set(back, (await this.#write('update_task', { id: back, restore: true })).completed);
    }
    // Every step ends with a look: what was acknowledged must be there, and nothing from before.
    await this.look(step);
  }

  async look(step: Step): Promise<void> {
    const args = step === 'listOpen' ? { limit: 500, completed: false } : { limit: 500 };
    const { tasks } =
      step === 'mirror'
        ? ((await mirrorTool(hub, 'list_tasks', args, withKey(this.#key))).json() as unknown as { tasks: Task[] })
        : await structured<{ tasks: Task[] }>(hub, 'list_tasks', args, this.#key);
    const mine = tasks
      .filter(({ content }) => content === this.#name)
      .map(({ id, completed }) => [id, completed] as const);
    const expected = [...this.#live].filter(([, completed]) => step !== 'listOpen' || !completed);
    expect(mine).toHaveLength(expected.length);
    expect(new Map(mine)).toEqual(new Map(expected));
  }

  async #write(name: string, args: object): Promise<Task> {
    return (await structured<{ task: Task }>(hub, name, args, this.#key)).task;
  }
}

async function recount({ email }: Account): Promise<Task[]> {
  const token = await accessToken(hub, email);
  const found: Task[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await call(hub, `/api/tasks?per_page=100&page=${page}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { data } = answer.json() as unknown as { data: Task[] };
    if (data.length === 0) return found;
    found.push(...data);
  }
}

test(`[TASK-5, OPS-2] lists race with writes and are never of before what was acknowledged (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 8 }), async (scripts) => {
      const accounts = [await account(hub), await account(hub)];
      await Promise.all(
        scripts.map(async (script, index) => {
          const client = new Client((accounts[index % 2] as Account).mcp_key, `client ${index}`);
          for (const step of script) await client.run(step);
        }),
      );
      for (const owner of accounts) {
        const { tasks } = await structured<{ tasks: Task[] }>(hub, 'list_tasks', { limit: 500 }, owner.mcp_key);
        expect(tasks).toEqual(await recount(owner));
      }
    }),
    { numRuns: 6, seed },
  );
}, 120_000);

const result = (text: string): WrittenResult<Uint8Array> => ({
  members: Buffer.from(text),
  structured: Buffer.from(text),
  plain: Buffer.from(text),
});
const tool = { name: 'reads', madeFrom: [] };

/** Answers over a revision and a clock that the test moves. */
function openAnswers() {
  const world = { revision: 1 as number | undefined, nowMs: 1000 };
  const answers = openKnownResults({ revision: () => world.revision, now: () => world.nowMs });
  const keep = (args: unknown, text: string, sameUntilMs?: number) => {
    // Twice: what is asked for once only is not kept.
    for (let call = 0; call < 2; call += 1) {
      const place = placeOfCall(answers, tool, 'acc', args);
      if (place !== undefined) answers.keep(place, () => result(text), sameUntilMs);
    }
  };
  const find = (args: unknown, accountId = 'acc') => {
    const place = placeOfCall(answers, tool, accountId, args);
    const found = place && answers.find(place);
    return found && Buffer.from(found.members).toString();
  };
  return { world, answers, keep, find };
}

test('[TASK-5] an answer that is asked for once is not kept', () => {
  const { answers, find } = openAnswers();
  const place = placeOfCall(answers, tool, 'acc', {});
  if (place !== undefined) answers.keep(place, () => result('once'));
  expect(find({})).toBeUndefined();
});

test('[TASK-5] an answer is given again to the same account, for the same arguments, at the same revision', () => {
  const { world, keep, find } = openAnswers();
  keep({ limit: 1 }, 'one');
  expect(find({ limit: 1 })).toBe('one');
  expect(find({ limit: 2 })).toBeUndefined();
  expect(find({ limit: '1' })).toBeUndefined();
  expect(find({ limit: 1 }, 'other')).toBeUndefined();
  world.revision = 2;
  expect(find({ limit: 1 })).toBeUndefined();
});

test('[TASK-5, OPS-2] while a write is under way nothing is given again, and what it may have changed is not kept', () => {
  const { world, answers, keep, find } = openAnswers();
  keep({}, 'before');
  world.revision = undefined;
  expect(find({})).toBeUndefined();
  world.revision = 2;
  const place = placeOfCall(answers, tool, 'acc', {});
  expect(place).toBeDefined();
  world.revision = 3;
  if (place !== undefined) answers.keep(place, () => result('made across a write'));
  expect(find({})).toBeUndefined();
});

test('[TASK-5] an answer that depends on the day holds until the tool said, and not before it was made', () => {
  const { world, keep, find } = openAnswers();
  keep({ due_today: true }, 'today', 2000);
  world.nowMs = 1999;
  expect(find({ due_today: true })).toBe('today');
  world.nowMs = 2000;
  expect(find({ due_today: true })).toBeUndefined();
  world.nowMs = 999;
  expect(find({ due_today: true })).toBeUndefined();
});

test('[LIM-2] neither long arguments nor large answers are kept, and all together stay within their bytes', () => {
  const { keep, find } = openAnswers();
  const long = { search: 'x'.repeat(limits.questionCharsMax) };
  keep(long, 'a');
  expect(find(long)).toBeUndefined();
  keep({ nested: { a: 1 } }, 'a');
  expect(find({ nested: { a: 1 } })).toBeUndefined();
  // A result is kept as its members and as what a model is given: both count.
  const largest = Math.floor(limits.answerRememberedBytesMax / 2);
  keep({}, 'x'.repeat(largest + 1));
  expect(find({})).toBeUndefined();
  const large = 'x'.repeat(largest);
  const count = Math.ceil(limits.resultsRememberedBytesMax / (2 * largest)) + 1;
  for (let page = 0; page < count; page += 1) keep({ page }, large);
  expect(find({ page: 0 })).toBeUndefined();
  expect(find({ page: count - 1 })).toBe(large);
});
