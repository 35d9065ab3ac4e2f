/** Random saves, lists and gets of handoffs against a plain model, under a clock that jumps over midnights and months. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import { kstDate } from '../../../src/time/kst.ts';
import { DAY_MS, type DocumentDesk, openDesk } from '../../support/document-desk.ts';
import { runs, seed } from '../../support/seed.ts';

const ACCOUNT = 'acc_a';
const KEEP_DAYS = 40;
const BIN_MS = 30 * DAY_MS;

interface Text {
  readonly content: string;
  readonly version: number;
  replacedMs: number | undefined;
}

interface Model {
  readonly project: string;
  readonly topic: string;
  readonly date: string;
  readonly time: string | undefined;
  readonly id: number;
  texts: Text[];
}

interface World {
  readonly desk: DocumentDesk;
  models: Model[];
  lastId: number;
}

const names = {
  project: fc.constantFrom('a', 'A', 'b'),
  topic: fc.constantFrom('x', 'y'),
  date: fc.option(fc.constantFrom('2026-11-20', '2026-11-30', '2026-12-01', '2026-10-12', '2027-01-01'), {
    nil: undefined,
  }),
  time: fc.option(fc.constantFrom('0000', '0930', '2359'), { nil: undefined }),
};

type Step =
  | {
      kind: 'save';
      project: string;
      topic: string;
      date: string | undefined;
      time: string | undefined;
      content: string;
    }
  | { kind: 'get'; project: string; topic: string; date: string | undefined; time: string | undefined }
  | { kind: 'list'; project: string | undefined; limit: number }
  | { kind: 'clock'; ms: number }
  | { kind: 'empty' };

const jumps = fc.constantFrom(0, 1, 3 * 3600 * 1000 - 1, DAY_MS, 9 * DAY_MS, 31 * DAY_MS);
const projects = fc.option(names.project, { nil: undefined });
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('save'), ...names, content: fc.constantFrom('1', '2', '3') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('get'), ...names }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('list'), project: projects, limit: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clock'), ms: jumps }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty') }) },
) as fc.Arbitrary<Step>;

const isOf = (model: Model, project: string, topic: string) =>
  model.project.toLowerCase() === project.toLowerCase() && model.topic === topic;
/** Latest first; within a day the one of no time is the earliest. */
const inOrder = (models: readonly Model[]) =>
  models.toSorted((a, b) => {
    const [x, y] = [a, b].map((model) => `${model.date} ${model.time ?? ''}`) as [string, string];
    return x === y ? b.id - a.id : x < y ? 1 : -1;
  });

async function save(world: World, step: Extract<Step, { kind: 'save' }>): Promise<void> {
  const { desk } = world;
  const { project, topic, content, time } = step;
  const request = { project, topic, content, time, date: step.date };
  const date = step.date ?? kstDate(desk.clock.ms);
  const saved = await desk.handoffs.save(ACCOUNT, request);
  const found = world.models.find(
    (model) => isOf(model, step.project, step.topic) && model.date === date && model.time === step.time,
  );
  if (found === undefined) {
    world.lastId += 1;
    const texts = [{ content: step.content, version: 1, replacedMs: undefined }];
    world.models.push({ project: step.project, topic: step.topic, date, time: step.time, id: world.lastId, texts });
    expect(saved).toMatchObject({ id: world.lastId, date, time: step.time ?? null, version: 1 });
    return;
  }
  const last = found.texts.at(-1) as Text;
  if (last.content !== step.content) {
    last.replacedMs = desk.clock.ms;
    found.texts.push({ content: step.content, version: last.version + 1, replacedMs: undefined });
  }
  expect(saved).toMatchObject({ id: found.id, version: found.texts.at(-1)?.version, preview: step.content });
}

function get({ desk, models }: World, { project, topic, date, time }: Extract<Step, { kind: 'get' }>): void {
  const request = { project, topic, date, time };
  const [found] = inOrder(
    models.filter(
      (model) =>
        isOf(model, project, topic) &&
        (date === undefined || model.date === date) &&
        (time === undefined || model.time === time),
    ),
  );
  if (found === undefined) {
    expect(() => desk.handoffs.get(ACCOUNT, request)).toThrow(Refusal);
    return;
  }
  const read = desk.handoffs.get(ACCOUNT, request);
  expect([read.handoff.id, read.content]).toEqual([found.id, found.texts.at(-1)?.content]);
  const kept = desk.handoffs.versions(ACCOUNT, read.handoff).map(({ version }) => version);
  expect(kept).toEqual(found.texts.map(({ version }) => version).reverse());
}

async function list(world: World, { project, limit }: Extract<Step, { kind: 'list' }>): Promise<void> {
  const { desk } = world;
  const first = kstDate(desk.clock.ms - KEEP_DAYS * DAY_MS);
  world.models = world.models.filter(({ date }) => date >= first);
  const wanted = world.models.filter(
    (model) => project === undefined || model.project.toLowerCase() === project.toLowerCase(),
  );
  const expected = inOrder(wanted).map(({ id }) => id);
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await desk.handoffs.list(ACCOUNT, { project, limit, cursor });
    found.push(...page.handoffs.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(found).toEqual(expected);
}

async function empty({ desk, models }: World): Promise<void> {
  const isDue = ({ replacedMs: ms }: Text) => ms !== undefined && ms <= desk.clock.ms - BIN_MS;
  const due = models.flatMap(({ texts }) => texts.filter(isDue)).length;
  for (const model of models) model.texts = model.texts.filter((text) => !isDue(text));
  expect(await desk.bin.empty(desk.clock.ms)).toBe(due);
}

test(`[HAND-1, HAND-2, HAND-3, HAND-4] random saves leave every list, match and kept text as a plain model has them (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 60, size: 'max' }), async (taken) => {
      const desk = openDesk({ keepDays: KEEP_DAYS });
      const world: World = { desk, models: [], lastId: 0 };
      try {
        await desk.handoffs.save('acc_b', { project: 'a', topic: 'x', content: 'theirs' });
        for (const step of taken) {
          if (step.kind === 'save') await save(world, step);
          else if (step.kind === 'get') get(world, step);
          else if (step.kind === 'list') await list(world, step);
          else if (step.kind === 'clock') desk.clock.ms += step.ms;
          else await empty(world);
        }
        expect(desk.handoffs.get('acc_b', { project: 'a', topic: 'x' }).content).toBe('theirs');
        expect(desk.problems()).toEqual([]);
      } finally {
        await desk.close();
      }
    }),
    { seed, numRuns: runs(10) },
  );
}, 240_000);
