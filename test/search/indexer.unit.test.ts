/** The thread of the search while much is written: what searches show, and what they say. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Thing, ThingKind } from '../../src/ids/thing.ts';
import { limits } from '../../src/limits/service.ts';
import { Indexer } from '../../src/search/indexer.ts';
import type { FoundThings } from '../../src/search/messages.ts';
import { runs, seed } from '../support/seed.ts';
import { textThing } from '../support/text-thing.ts';

/** Things of accounts in memory, and how many were read. */
class Shelf {
  readonly texts = new Map<string, Map<string, { text: string; stamp: number }>>();
  reads = 0;
  readonly indexer: Indexer;

  constructor() {
    const kind: ThingKind = {
      kind: 'file',
      templates: [],
      find: () => undefined,
      read: (_reader, accountId, key) => this.#read(accountId, key),
      keys: (_reader, accountId, after) => this.#keys(accountId, after),
      writtenBy: [],
    };
    // The texts are in memory: nothing is read from a store.
    const reader = { renew: () => undefined } as unknown as ConstructorParameters<typeof Indexer>[0]['reader'];
    this.indexer = new Indexer({ reader, kinds: [kind], now: () => 0 });
  }

  put(accountId: string, key: string, text: string): void {
    const account = this.texts.get(accountId) ?? new Map();
    this.texts.set(accountId, account);
    account.set(key, { text, stamp: (account.get(key)?.stamp ?? 0) + 1 });
  }

  /** As the hub tells of a commit. */
  write(accountId: string, key: string, text: string): void {
    this.put(accountId, key, text);
    this.indexer.note([[accountId, 'file', key]]);
  }

  async search(accountId: string, query: string): Promise<FoundThings> {
    return await this.indexer.search({ accountId, query, kinds: undefined, ranking: 0, offset: 0, limit: 10 });
  }

  #read(accountId: string, key: string): Thing | undefined {
    this.reads += 1;
    const found = this.texts.get(accountId)?.get(key);
    if (found === undefined) return undefined;
    return textThing({ key, title: key, place: '', ...found });
  }

  *#keys(accountId: string, after: string | undefined): Generator<string> {
    const keys = [...(this.texts.get(accountId)?.keys() ?? [])].toSorted();
    yield* after === undefined ? keys : keys.filter((key) => key > after);
  }
}

const MANY = 10 * limits.searchCaughtUpThings;

async function whenComplete(shelf: Shelf, accountId: string, query: string): Promise<FoundThings> {
  for (;;) {
    const found = await shelf.search(accountId, query);
    if (found.complete) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('[FIND-5] a search during a backlog has what was written last, and says that it is behind; others notice nothing', async () => {
  const shelf = new Shelf();
  shelf.put('other', 'theirs', 'a heron');
  await shelf.search('owner', 'nothing');
  await shelf.search('other', 'nothing');
  for (let at = 0; at < MANY; at += 1) shelf.write('owner', `k${at}`, `reed ${at}`);
  shelf.write('owner', 'last', 'a bittern in the reed');
  const own = shelf.search('owner', 'bittern');
  const theirs = await shelf.search('other', 'heron');
  expect([theirs.total, theirs.complete, shelf.reads < MANY]).toEqual([1, true, true]);
  const found = await own;
  expect([found.total, found.complete]).toEqual([1, false]);
  // Of words that are everywhere it has some.
  expect((await whenComplete(shelf, 'owner', 'reed')).total).toBe(MANY + 1);
});

test('[FIND-5] a search has all that was written before it, while that is no more than a batch', async () => {
  const shelf = new Shelf();
  await shelf.search('owner', 'nothing');
  for (let round = 1; round <= 3; round += 1) {
    for (let at = 0; at < limits.searchCaughtUpThings; at += 1) shelf.write('owner', `r${round} ${at}`, 'sedge');
    const { total, complete } = await shelf.search('owner', 'sedge');
    expect([total, complete]).toEqual([round * limits.searchCaughtUpThings, true]);
  }
});

test('[FIND-5] an account that nobody searched is not read when it is written to', async () => {
  const shelf = new Shelf();
  await shelf.search('other', 'nothing');
  const before = shelf.reads;
  shelf.write('owner', 'one', 'iris');
  await shelf.search('other', 'iris');
  expect(shelf.reads).toBe(before);
  expect((await shelf.search('owner', 'iris')).total).toBe(1);
});

test('[FIND-5] what went together with one row is not counted by the next search', async () => {
  const shelf = new Shelf();
  for (let at = 0; at < 300; at += 1) shelf.put('owner', `k${at}`, 'rush');
  expect((await shelf.search('owner', 'rush')).total).toBe(300);
  shelf.texts.get('owner')?.clear();
  shelf.put('owner', 'new', 'rush');
  shelf.indexer.note([
    ['owner', 'file', undefined],
    ['owner', 'file', 'new'],
  ]);
  expect((await shelf.search('owner', 'rush')).total).toBe(1);
});

test('[FIND-5] a large account is indexed whole, in pages of keys, beside what is written to it meanwhile', async () => {
  const shelf = new Shelf();
  const count = 7 * limits.searchKeysAtOnce;
  for (let at = 0; at < count; at += 1) shelf.put('owner', `k${String(at).padStart(6, '0')}`, `moss number${at}`);
  const first = shelf.search('owner', 'moss');
  for (let at = 0; at < count; at += 7) shelf.write('owner', `k${String(at).padStart(6, '0')}`, `fern number${at}`);
  await first;
  const [moss, fern] = [await whenComplete(shelf, 'owner', 'moss'), await whenComplete(shelf, 'owner', 'fern')];
  expect([moss.total + fern.total, fern.total]).toEqual([count, Math.ceil(count / 7)]);
});

test(`[FIND-4] phrases and what is left out are those of a plain walk over the texts, at any length of text (seed ${seed})`, async () => {
  const words = ['elm', 'fir', 'oak', 'ash'];
  const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }).map((some) => some.join(' '));
  const phrase = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((some) => some.join(' '));
  const asked = fc.record({
    wanted: phrase,
    other: fc.option(phrase),
    without: fc.option(phrase),
    word: fc.constantFrom(...words),
  });
  const has = (held: string, sought: string) => ` ${held} `.includes(` ${sought} `);
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 60 }),
      fc.array(asked, { maxLength: 8 }),
      async (texts, all) => {
        const shelf = new Shelf();
        for (const [at, held] of texts.entries()) shelf.put('owner', `k${at}`, held);
        for (const { wanted, other, without, word } of all) {
          const less = without === null ? '' : ` -"${without}"`;
          const found = async (query: string) => (await shelf.search('owner', query + less)).total;
          const count = (isIt: (held: string) => boolean) =>
            texts.filter((held) => isIt(held) && (without === null || !has(held, without))).length;
          expect(await found(`"${wanted}" ${word}`)).toBe(count((held) => has(held, wanted) && has(held, word)));
          expect(await found(`"${wanted}" OR ${word}`)).toBe(count((held) => has(held, wanted) || has(held, word)));
          if (other !== null)
            expect([await found(`"${wanted}" "${other}"`), await found(`"${wanted}" OR "${other}"`)]).toEqual([
              count((held) => has(held, wanted) && has(held, other)),
              count((held) => has(held, wanted) || has(held, other)),
            ]);
        }
      },
    ),
    { seed, numRuns: runs(60) },
  );
});

test('[FIND-4, FIND-5] a phrase is looked for in so much text and says so; another account is answered meanwhile', async () => {
  const shelf = new Shelf();
  const long = 'birch alder '.repeat(limits.searchIndexedChars / 12);
  const texts = limits.searchPhraseChars / limits.searchIndexedChars + 2;
  for (let at = 0; at < texts; at += 1) shelf.put('owner', `k${at}`, long);
  shelf.put('other', 'theirs', 'a heron');
  await whenComplete(shelf, 'owner', 'birch');
  await shelf.search('other', 'heron');
  let isAnswered = false;
  const own = shelf.search('owner', '"alder alder"').then((found) => {
    isAnswered = true;
    return found;
  });
  expect([(await shelf.search('other', 'heron')).total, isAnswered]).toEqual([1, false]);
  expect(await own).toMatchObject({ total: 0, complete: false });
  expect(await shelf.search('owner', '"alder birch"')).toMatchObject({ complete: false });
  shelf.texts.get('owner')?.clear();
  shelf.indexer.note([['owner', 'file', undefined]]);
  shelf.write('owner', 'short', 'alder alder');
  expect(await whenComplete(shelf, 'owner', '"alder alder"')).toMatchObject({ total: 1, complete: true });
});
