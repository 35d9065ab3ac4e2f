/** Random writes of dev docs against a plain model: lists, searches, versions, categories, and a client that pulls. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import type { ByteRun } from '../../../src/http/reply/byte-run.ts';
import { DAY_MS, type DocumentDesk, openDesk } from '../../support/document-desk.ts';
import { runs, seed } from '../../support/seed.ts';

const ACCOUNT = 'acc_a';
const KEPT = 50;

/** What a document should be. */
interface Model {
  readonly id: number;
  readonly title: string;
  category: string;
  texts: string[];
  deletedMs: number | undefined;
}

interface World {
  readonly desk: DocumentDesk;
  readonly models: Model[];
  /** What a client has that pulls after each write. */
  readonly replica: Map<number, string>;
  cursor: string | undefined;
  /** What a client has of `docs` alone, which pulls now and then. */
  readonly ofDocs: Map<number, string>;
  docsCursor: string | undefined;
  lastId: number;
}

const words = fc.constantFrom('Key', 'KEY', 'ключ', '배포', '인증서', 'é', 'E\u0301', 'a', 'ab', '\n', ' ', '😀', '"');
const texts = fc.array(words, { maxLength: 6 }).map((parts) => parts.join(''));
const titles = fc.constantFrom('a.md', 'A.MD', 'b.json', '배포.md', 'key');
const categories = fc.constantFrom('docs', 'mcp', 'own', 'KEY');
const ids = fc.integer({ min: 1, max: 12 });
const modes = fc.constantFrom('replace', 'append', 'prepend');

type Step =
  | { readonly kind: 'create'; readonly title: string; readonly category: string; readonly content: string }
  | {
      readonly kind: 'update';
      readonly id: number;
      readonly mode: 'replace' | 'append' | 'prepend';
      readonly content: string;
    }
  | { readonly kind: 'move'; readonly id: number; readonly category: string }
  | { readonly kind: 'remove' | 'restore'; readonly id: number }
  | { readonly kind: 'clock'; readonly ms: number }
  | { readonly kind: 'empty' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('create'), title: titles, category: categories, content: texts }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('update'), id: ids, mode: modes, content: texts }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move'), id: ids, category: categories }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('remove', 'restore'), id: ids }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clock'), ms: fc.constantFrom(-5000, 0, 1, DAY_MS, 16 * DAY_MS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty') }) },
) as fc.Arbitrary<Step>;

const fold = (text: string) => text.normalize('NFKC').toLowerCase();
const live = ({ models }: World) => models.filter(({ deletedMs }) => deletedMs === undefined);
const textOf = (model: Model) => model.texts.at(-1) ?? '';
const isTaken = (world: World, title: string, category: string) =>
  live(world).some((model) => fold(model.title) === fold(title) && model.category === category);

/** Takes a step on both sides; what the model refuses, the service must refuse. */
async function take(world: World, step: Step): Promise<void> {
  const { desk, models } = world;
  const { docs, clock } = desk;
  switch (step.kind) {
    case 'create': {
      const category = fold(step.category);
      const write = docs.create(ACCOUNT, { ...step, create_category: true });
      if (isTaken(world, step.title, category)) return await refused(write);
      const { id } = await write;
      world.lastId += 1;
      expect(id).toBe(world.lastId);
      models.push({ id, title: step.title, category, texts: [step.content], deletedMs: undefined });
      return;
    }
    case 'update': {
      const model = live(world).find(({ id }) => id === step.id);
      const write = docs.update(ACCOUNT, { id: step.id, mode: step.mode, content: step.content });
      if (model === undefined) return await refused(write);
      const before = textOf(model);
      const after = { replace: step.content, append: before + step.content, prepend: step.content + before }[step.mode];
      if (after !== before) model.texts.push(after);
      expect(await write).toMatchObject({ version: model.texts.length, size_bytes: Buffer.byteLength(after) });
      return;
    }
    case 'move': {
      const model = live(world).find(({ id }) => id === step.id);
      const write = docs.move(ACCOUNT, { id: step.id }, { category: step.category });
      const category = fold(step.category);
      const isElsewhere = model !== undefined && model.category !== category;
      if (model === undefined || (isElsewhere && isTaken(world, model.title, category))) return await refused(write);
      expect(await write).toMatchObject({ version: model.texts.length, category });
      model.category = category;
      return;
    }
    case 'remove': {
      const model = models.find(({ id }) => id === step.id);
      if (model === undefined) return await refused(docs.remove(ACCOUNT, { id: step.id }));
      const { deleted_at: at } = await docs.remove(ACCOUNT, { id: step.id });
      model.deletedMs ??= Date.parse(at ?? '');
      expect(Date.parse(at ?? '')).toBe(model.deletedMs);
      return;
    }
    case 'restore': {
      const model = models.find(({ id }) => id === step.id);
      const write = docs.update(ACCOUNT, { id: step.id, restore: true });
      if (model === undefined) return await refused(write);
      if (model.deletedMs !== undefined && isTaken(world, model.title, model.category)) return await refused(write);
      model.deletedMs = undefined;
      expect(await write).toMatchObject({ version: model.texts.length, deleted_at: null });
      return;
    }
    case 'clock':
      clock.ms += step.ms;
      return;
    case 'empty': {
      const due = models.filter(({ deletedMs: ms }) => ms !== undefined && ms <= clock.ms - 30 * DAY_MS);
      for (const model of due) models.splice(models.indexOf(model), 1);
      expect(await desk.bin.empty(clock.ms)).toBe(due.length);
      return;
    }
  }
}

async function refused(write: Promise<unknown>): Promise<void> {
  await expect(write).rejects.toThrow(Refusal);
}

function linesOf(run: ByteRun): { type: string; id: number; content: string }[] {
  const read = run.open();
  let text = '';
  for (let bytes = read(); bytes !== undefined; bytes = read()) text += Buffer.from(bytes).toString();
  expect(Buffer.byteLength(text)).toBe(run.bytes);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { type: string; id: number; content: string });
}

/** Pulls what is new, and holds what the client then has against the model. */
function pull(world: World): void {
  const found = world.desk.docs.pull(ACCOUNT, { cursor: world.cursor });
  for (const { type, id, content } of linesOf(found.all)) {
    if (type === 'doc') world.replica.set(id, content);
    else world.replica.delete(id);
  }
  world.cursor = found.cursor;
  const expected = live(world).map((model) => [model.id, textOf(model)] as const);
  expect([...world.replica].sort(([a], [b]) => a - b)).toEqual(expected);
}

/** Pulls one category, and holds what the client then has of it against the model: nothing stays that left. */
function pullDocs(world: World): void {
  const found = world.desk.docs.pull(ACCOUNT, { category: 'docs', cursor: world.docsCursor });
  for (const { type, id, content } of linesOf(found.all)) {
    if (type === 'doc') world.ofDocs.set(id, content);
    else world.ofDocs.delete(id);
  }
  world.docsCursor = found.cursor;
  const expected = live(world).filter(({ category }) => category === 'docs');
  expect([...world.ofDocs].sort(([a], [b]) => a - b)).toEqual(expected.map((model) => [model.id, textOf(model)]));
}

async function checkLists(world: World): Promise<void> {
  const { docs } = world.desk;
  const newest = live(world).reverse();
  for (const search of [
    undefined,
    'key',
    'ключ',
    '배포',
    '증',
    'é',
    'keyKEY',
    'eyk',
    'KEY\nkey',
    '인증서"',
    'ключ 배',
    'ab',
    '배포인증서',
    'a.md',
    'none of it',
  ]) {
    for (const category of [undefined, 'docs', 'own']) {
      if (category === 'own' && !newest.some((model) => model.category === 'own')) continue;
      const isMatch = (model: Model) =>
        (category === undefined || model.category === category) &&
        (search === undefined || [model.title, textOf(model)].some((text) => fold(text).includes(fold(search))));
      const expected = newest.filter(isMatch).map(({ id }) => id);
      const found: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await docs.list(ACCOUNT, { search, category, limit: 2, cursor });
        expect(page.complete).toBe(true);
        found.push(...page.docs.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect([search, category, found]).toEqual([search, category, expected]);
    }
  }
}

function checkDocs(world: World): void {
  const { docs } = world.desk;
  const counts = new Map<string, number>();
  for (const model of live(world)) {
    counts.set(model.category, (counts.get(model.category) ?? 0) + 1);
    const { record: doc, content } = docs.get(ACCOUNT, { title: model.title, category: model.category });
    expect([doc.id, content]).toEqual([model.id, textOf(model)]);
    const versions = docs.versions(ACCOUNT, doc).map(({ version }) => version);
    const all = model.texts.map((_, index) => index + 1).reverse();
    expect(versions).toEqual(all.slice(0, KEPT));
    const oldest = versions.at(-1) ?? 1;
    expect(docs.get(ACCOUNT, { id: model.id, version: oldest }).content).toBe(model.texts[oldest - 1]);
  }
  const counted = docs.categories(ACCOUNT).filter((category) => category.docs > 0);
  expect(new Map(counted.map((category) => [category.name, category.docs]))).toEqual(counts);
}

test(`[DOC-1, DOC-2, DOC-3] random writes leave every list, search, version and pull as a plain model has them (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 60, size: 'max' }), async (taken) => {
      const desk = openDesk({ isIndexed: taken.length % 4 !== 0 });
      const replicas = { replica: new Map(), cursor: undefined, ofDocs: new Map(), docsCursor: undefined };
      const world: World = { desk, models: [], ...replicas, lastId: 0 };
      try {
        await world.desk.docs.create('acc_b', { title: 'a.md', content: 'key 배포' });
        for (const [index, step] of taken.entries()) {
          await take(world, step);
          pull(world);
          if (index % 3 === 2) pullDocs(world);
        }
        pullDocs(world);
        await checkLists(world);
        checkDocs(world);
        expect(world.desk.problems()).toEqual([]);
      } finally {
        await world.desk.close();
      }
    }),
    { seed, numRuns: runs(3, 30) },
  );
}, 240_000);

test('[DOC-3] a search over many documents reads few, and finds what is there in all of them', async () => {
  const desk = openDesk();
  const count = 1100;
  for (let first = 1; first <= count; first += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const content = `Document ${first + n}: ${'renew the certificate, then deploy. '.repeat(3)}`;
        return desk.docs.create(ACCOUNT, { title: `${first + n}`, content: `${content}#${(first + n) * 7919}#` });
      }),
    );
  }
  for (const id of [1, 511, 512, 513, 1024, 1025, 1100]) {
    const found = await desk.docs.list(ACCOUNT, { search: `#${id * 7919}#` });
    expect(found.docs.map((doc) => doc.id)).toEqual([id]);
    expect(found.looked).toBeLessThan(40);
  }
  expect((await desk.docs.list(ACCOUNT, { search: 'DEPLOY. renew', limit: 3 })).docs.map(({ id }) => id)).toEqual([
    1100, 1099, 1098,
  ]);
  expect(await desk.docs.list(ACCOUNT, { search: 'nowhere at all' })).toMatchObject({ docs: [], complete: true });
  expect(desk.problems()).toEqual([]);
  await desk.close();
});

test('[DOC-3] a search that has read enough says how much it read, and goes on to the end', async () => {
  const desk = openDesk();
  await Promise.all(
    Array.from({ length: 601 }, (_, n) =>
      desk.docs.create(ACCOUNT, { title: `${n}`, content: n === 0 ? '¶' : 'other' }),
    ),
  );
  const short = await desk.docs.list(ACCOUNT, { search: '¶' });
  expect(short).toMatchObject({ docs: [], complete: false, looked: 500 });
  const rest = await desk.docs.list(ACCOUNT, { search: '¶', cursor: short.cursor });
  expect(rest).toMatchObject({ docs: [{ id: 1 }], complete: true, looked: 101, cursor: undefined });
  for (let n = 0; n < 10; n += 1) {
    await desk.docs.create(ACCOUNT, { title: `large ${n}`, content: `${n}${'long text '.repeat(104_000)}` });
  }
  // Each has these words, and none of them in this order.
  const large = await desk.docs.list(ACCOUNT, { search: 'long long text' });
  expect(large).toMatchObject({ docs: [], complete: false, looked: 9 });
  expect(await desk.docs.list(ACCOUNT, { search: 'long long text', cursor: large.cursor })).toMatchObject({
    docs: [],
    complete: true,
    looked: 1,
  });
  expect(await desk.docs.list(ACCOUNT, { search: 'long text nowhere' })).toMatchObject({ complete: true, looked: 0 });
  expect(desk.problems()).toEqual([]);
  await desk.close();
});

test('[DOC-2] what lies in the bin for 30 days is gone for good, its texts too, and a restored document is not', async () => {
  const desk = openDesk();
  for (const title of ['a', 'b', 'c']) await desk.docs.create(ACCOUNT, { title, content: title });
  await desk.docs.remove(ACCOUNT, { id: 1 });
  await desk.docs.remove(ACCOUNT, { id: 2 });
  await desk.docs.update(ACCOUNT, { id: 2, restore: true });
  desk.clock.ms += 30 * DAY_MS - 1;
  expect(await desk.bin.empty(desk.clock.ms)).toBe(0);
  desk.clock.ms += 10;
  expect(await desk.bin.empty(desk.clock.ms)).toBe(1);
  await refused(desk.docs.update(ACCOUNT, { id: 1, restore: true }));
  expect(desk.docs.get(ACCOUNT, { id: 2 }).content).toBe('b');
  expect(desk.problems()).toEqual([]);
  await desk.close();
});

test('[DOC-3] a first pull reaches a live document behind more deleted ones than one answer looks at', async () => {
  const desk = openDesk();
  const count = 2001;
  const each = async (write: (n: number) => Promise<unknown>) => {
    for (let first = 1; first <= count; first += 500) {
      const size = Math.min(500, count + 1 - first);
      await Promise.all(Array.from({ length: size }, (_, n) => write(first + n)));
    }
  };
  await each((n) => desk.docs.create(ACCOUNT, { title: `${n}`, content: '' }));
  await each((id) => desk.docs.remove(ACCOUNT, { id }));
  const { id } = await desk.docs.create(ACCOUNT, { title: 'live', content: '' });
  const found: number[] = [];
  let cursor: string | undefined;
  for (let pulls = 0; pulls < 5; pulls += 1) {
    const pulled = desk.docs.pull(ACCOUNT, cursor === undefined ? {} : { cursor });
    found.push(...linesOf(pulled.docs).map((line) => line.id));
    cursor = pulled.cursor;
    if (!pulled.hasMore) break;
  }
  expect(found).toEqual([id]);
  await desk.close();
});
