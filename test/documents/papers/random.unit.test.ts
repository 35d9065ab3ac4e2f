/** Random writes of papers against a plain model, and what leaves the bin when. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import { newPaper, paperChange } from '../../../src/documents/papers/fields.ts';
import { DAY_MS, type DocumentDesk, openDesk } from '../../support/document-desk.ts';
import { runs, seed } from '../../support/seed.ts';

const ACCOUNT = 'acc_a';

interface Model {
  readonly id: number;
  title: string;
  content: string;
  category_id: number | null;
  published: boolean;
  version: number;
  deletedMs: number | undefined;
}

interface World {
  readonly desk: DocumentDesk;
  readonly models: Model[];
  lastId: number;
}

type Fields = Partial<Pick<Model, 'title' | 'content' | 'category_id' | 'published'>>;

const fields = fc.record(
  {
    title: fc.constantFrom('a', 'b'),
    content: fc.constantFrom('', 'one', 'two'),
    category_id: fc.constantFrom(null, 1, 2),
    published: fc.boolean(),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Fields>;
const ids = fc.integer({ min: 1, max: 8 });

type Step =
  | { kind: 'create' | 'patch' | 'restore'; id: number; fields: Fields }
  | { kind: 'remove'; id: number }
  | { kind: 'clock'; ms: number }
  | { kind: 'category'; id: number }
  | { kind: 'empty' };

const steps = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('create', 'patch', 'restore'), id: ids, fields }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), id: ids }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clock'), ms: fc.constantFrom(-1000, 1, 16 * DAY_MS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('category'), id: fc.constantFrom(1, 2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty') }) },
) as fc.Arbitrary<Step>;

/** Chance seldom makes it: a paper is sent back with none for its deleted category, which is restored then. */
const SENT_BACK_WHOLE: Step[] = [
  { kind: 'category', id: 1 },
  { kind: 'create', id: 1, fields: { category_id: 1 } },
  { kind: 'category', id: 1 },
  { kind: 'patch', id: 1, fields: { title: 'b', category_id: null } },
  { kind: 'category', id: 1 },
];

const live = ({ models }: World) => models.filter(({ deletedMs }) => deletedMs === undefined);

async function take(world: World, step: Step): Promise<void> {
  const { desk, models } = world;
  if (step.kind === 'clock') desk.clock.ms += step.ms;
  else if (step.kind === 'category') desk.categories[desk.categories.has(step.id) ? 'delete' : 'add'](step.id);
  else if (step.kind === 'empty') {
    const due = models.filter(({ deletedMs: ms }) => ms !== undefined && ms <= desk.clock.ms - 30 * DAY_MS);
    for (const model of due) models.splice(models.indexOf(model), 1);
    expect(await desk.bin.empty(desk.clock.ms)).toBe(due.length);
  } else if (step.kind === 'remove') {
    const model = live(world).find(({ id }) => id === step.id);
    const removed = desk.papers.remove(ACCOUNT, step.id);
    if (model === undefined) return await refused(removed);
    await removed;
    model.deletedMs = desk.clock.ms;
  } else if (step.kind === 'create') await create(world, step.fields);
  else await change(world, step.id, step.fields, step.kind === 'restore');
}

/** A category that is not there is refused. */
const isWrong = ({ desk }: World, { category_id: id }: Fields) =>
  id !== undefined && id !== null && !desk.categories.has(id);

/** None for a category that is deleted is what every list shows: it changes nothing. */
function meantCategory({ desk }: World, { category_id: had }: Model, { category_id: asked = had }: Fields) {
  const isShown = had === null || desk.categories.has(had);
  return asked === null && !isShown ? had : asked;
}

async function create(world: World, written: Fields): Promise<void> {
  const document = { title: 'new', ...written };
  const { papers } = world.desk;
  const made = (async () => await papers.create(ACCOUNT, papers.read(ACCOUNT, newPaper, document)))();
  if (isWrong(world, written)) return await refused(made);
  world.lastId += 1;
  expect((await made).paper.id).toBe(world.lastId);
  const plain = { content: '', category_id: null, published: false, version: 1, deletedMs: undefined };
  world.models.push({ ...plain, ...document, id: world.lastId });
}

async function change(world: World, id: number, written: Fields, restore: boolean): Promise<void> {
  const model = world.models.find((one) => one.id === id);
  const { papers } = world.desk;
  const document = { ...written, ...(restore ? { restore } : {}) };
  const changed = (async () => await papers.patch(ACCOUNT, id, papers.read(ACCOUNT, paperChange, document)))();
  if (model === undefined || isWrong(world, written) || (model.deletedMs !== undefined && !restore)) {
    return await refused(changed);
  }
  const { content = model.content } = written;
  if (content !== model.content) model.version += 1;
  const category = meantCategory(world, model, written);
  Object.assign(model, written, { content, category_id: category, deletedMs: undefined });
  const { paper } = await changed;
  const expected = [model.version, model.published, model.published];
  expect([paper.version, paper.published, paper.published_at !== null]).toEqual(expected);
}

async function refused(written: Promise<unknown>): Promise<void> {
  await expect(written).rejects.toThrow(Refusal);
}

function check(world: World): void {
  const { desk } = world;
  const shown = (id: number | null) => (id !== null && desk.categories.has(id) ? id : null);
  for (const published of [undefined, true, false]) {
    for (const categoryId of [undefined, 1, 2]) {
      const wanted = live(world)
        .filter((model) => published === undefined || model.published === published)
        .filter((model) => categoryId === undefined || shown(model.category_id) === categoryId)
        .map(({ id, title, content, category_id: category }) => [id, title, content, shown(category)]);
      const { papers } = desk.papers.list(ACCOUNT, {
        published,
        category_id: categoryId,
        include_content: true,
        limit: 100,
      });
      const found = papers.map(({ paper, content }) => [paper.id, paper.title, content, paper.category_id]);
      expect(found).toEqual(wanted.reverse());
    }
  }
}

test(`[PAPER-1] random writes leave every list as a plain model has it (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 60, size: 'max' }), async (taken) => {
      const desk = openDesk();
      const world: World = { desk, models: [], lastId: 0 };
      try {
        await desk.papers.create('acc_b', { title: 'theirs' });
        for (const step of taken) {
          await take(world, step);
          check(world);
        }
        expect(desk.papers.get('acc_b', 1).paper.title).toBe('theirs');
        expect(desk.problems()).toEqual([]);
      } finally {
        await desk.close();
      }
    }),
    { seed, numRuns: runs(8), examples: [[SENT_BACK_WHOLE]] },
  );
}, 240_000);
