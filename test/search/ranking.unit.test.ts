/** The index of an account against a plain walk over the same texts, and the lines that are shown of a text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccountIndex } from '../../src/search/account-index.ts';
import { HighestScores } from '../../src/search/scores.ts';
import { snippetsOf } from '../../src/search/snippets.ts';
import { bitsIn, isNear, lettersOf, wantedWords } from '../../src/search/words.ts';
import { runs, seed } from '../support/seed.ts';

const NOW_MS = Date.UTC(2026, 10, 26);
const WORDS = ['ash', 'birch', 'cedar', 'elm', 'fir', 'hazel', 'larch', 'maple', 'oak', 'pine'];
const KINDS = ['task', 'doc', 'file'] as const;

function put(index: AccountIndex, key: string, text: string, more: { name?: string; changedMs?: number } = {}) {
  const { name = key, changedMs = NOW_MS } = more;
  const kind = KINDS[key.length % KINDS.length] ?? 'file';
  index.put({ kind, key, stamp: 1, changedMs, name, place: '', text });
  return kind;
}

const keys = (index: AccountIndex, query: string) =>
  index.rank(wantedWords(query), {}, NOW_MS).found.map(({ key }) => key);

test(`[FIND-4, FIND-5] what has every word is found and counted by kind, whatever is replaced, removed and joined meanwhile (seed ${seed})`, () => {
  const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 });
  // A few hundred keys for several thousand changes: segments are sealed, worn and joined, a step now and then.
  const change = fc.tuple(fc.nat({ max: 700 }), fc.oneof({ weight: 5, arbitrary: text }, fc.constant(undefined)));
  const changes = fc.array(change, { minLength: 3000, maxLength: 5000 });
  const query = fc.uniqueArray(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(changes, fc.array(query, { minLength: 5, maxLength: 5 }), (made, queries) => {
      const index = new AccountIndex();
      const live = new Map<string, { kind: string; words: readonly string[] }>();
      for (const [number, words] of made) {
        const key = `k${number}`;
        const kind = KINDS[key.length % KINDS.length] ?? 'file';
        if (words === undefined) index.remove(kind, key);
        else put(index, key, words.join(' '));
        if (number % 50 === 0) index.tidy(() => true);
        if (words === undefined) live.delete(key);
        else live.set(key, { kind, words });
      }
      for (const [turn, wanted] of queries.entries()) {
        // The last ones are asked once nothing is left to join.
        index.tidy(() => turn < 2);
        const having = [...live].filter(([, { words }]) => wanted.every((word) => words.includes(word)));
        const counts: Record<string, number> = {};
        for (const [, { kind }] of having) counts[kind] = (counts[kind] ?? 0) + 1;
        const ranking = index.rank(wantedWords(wanted.join(' ')), {}, NOW_MS);
        expect(ranking.found.map(({ key }) => key).sort()).toEqual(having.map(([key]) => key).sort());
        expect([ranking.total, ranking.counts]).toEqual([having.length, counts]);
      }
    }),
    { seed, numRuns: runs(2) },
  );
});

test('[FIND-4] a name stands before a title, a title before a text, often before once, new before old', () => {
  const index = new AccountIndex();
  put(index, 'old', 'a granite wall', { changedMs: NOW_MS - 90 * 24 * 3600 * 1000 });
  put(index, 'once', 'a granite wall');
  put(index, 'often', 'granite on granite, granite wall');
  put(index, 'title', '# Granite\n\na wall');
  put(index, 'name', 'a wall', { name: 'granite' });
  expect(keys(index, 'granite')).toEqual(['name', 'title', 'often', 'once', 'old']);
  expect([keys(index, 'gran wal').length, keys(index, 'granit'), keys(index, 'grantie').length]).toEqual([
    5,
    ['name', 'title', 'often', 'once', 'old'],
    5,
  ]);
});

test('[FIND-4] the best of more than are ranked, and equal questions of one hour have equal answers', () => {
  const index = new AccountIndex();
  for (let at = 0; at < 2500; at += 1) put(index, `k${at}`, at % 100 === 7 ? 'slate slate slate' : 'slate');
  const first = index.rank(wantedWords('slate'), {}, NOW_MS);
  expect([first.total, first.found.length]).toEqual([2500, 1000]);
  expect(first.found.slice(0, 25).every(({ key }) => key.endsWith('07') || key === 'k7')).toBe(true);
  expect(index.rank(wantedWords('slate'), {}, NOW_MS + 59 * 60_000)).toEqual(first);
});

test('[FIND-6] a group is ranked by its own words: some of them are enough, and a slip is one where no member has the word', () => {
  const index = new AccountIndex();
  const among = { group: 'facts', needs: 'some' } as const;
  const found = (query: string) => index.rank(wantedWords(query), among, NOW_MS).found.map(({ key }) => key);
  const note = (key: string, text: string, group?: string) =>
    index.put({ kind: 'doc', key, stamp: 1, changedMs: NOW_MS, name: '', place: '', text, group });
  for (let at = 0; at < 1500; at += 1) note(`n${at}`, 'cedarr cedarr cedarr birch');
  note('one', 'cedar and oak', 'facts');
  note('two', 'the birch of the oak', 'facts');
  note('three', 'the maple', 'facts');
  expect([found('cedarr'), found('cedar birch'), found('birch'), found('which maple')]).toEqual([
    ['one'],
    ['one', 'two'],
    ['two'],
    ['three'],
  ]);
  expect(index.rank(wantedWords('cedar larch'), among, NOW_MS)).toMatchObject({ total: 1, missing: ['larch'] });
  index.remove('doc', 'one');
  expect([found('cedar'), found('oak')]).toEqual([[], ['two']]);
});

test(`[FIND-4] the highest scores are those of a sorted list (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 200 }), (scores) => {
      const best = new HighestScores(10);
      for (const [at, score] of scores.entries()) if (score > best.least) best.add(score, 0, at);
      const sorted = scores.toSorted((a, b) => b - a).slice(0, 10);
      expect([...best].map(({ score }) => score).sort((a, b) => b - a)).toEqual(sorted);
      expect([...best].every(({ score, document }) => scores[document] === score)).toBe(true);
    }),
    { seed, numRuns: runs(200) },
  );
});

test(`[FIND-4] letters rule out no word that is near (seed ${seed})`, () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '7'), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.constantFrom(1, 2), (one, other, most) => {
      if (!isNear(one, other, most)) return;
      const [here, there] = [lettersOf(one), lettersOf(other)];
      expect(Math.max(bitsIn(here & ~there), bitsIn(there & ~here))).toBeLessThanOrEqual(most);
    }),
    { seed, numRuns: runs(2000) },
  );
  expect([0, 1, 0x80000000, 0xffffffff, 0x0f0f0f0f].map(bitsIn)).toEqual([0, 1, 1, 32, 16]);
});

test('[FIND-4] one sign is found in every run that has it, beside words of all scripts, and nowhere else', () => {
  const index = new AccountIndex();
  const texts = ['東', '中東', '東京', '서울', 'ᄀ', 'granite Ωμέγα жар עץ कमल', '一丁', '𠮷野'];
  texts.forEach((text, at) => {
    put(index, `k${at}`, text);
  });
  const having = (sign: string) => texts.flatMap((text, at) => (text.includes(sign) ? [`k${at}`] : []));
  for (const sign of ['東', '京', '서', '울', '丁', '𠮷', '野', 'ᄀ'])
    expect([sign, keys(index, sign).toSorted()]).toEqual([sign, having(sign)]);
  expect(keys(index, '西')).toEqual([]);
});

describe('[FIND-4] lines that are shown', () => {
  test.each([
    ['one\ntwo granite\nthree', 'granite', [[2, 'two granite']]],
    [
      'granite\n\ngranite walls\nwalls',
      'granite walls',
      [
        [1, 'granite'],
        [3, 'granite walls'],
        [4, 'walls'],
      ],
    ],
    ['Größe\nGROSSE\nÉCLAIR', 'eclair', [[3, 'ÉCLAIR']]],
    [
      'Größe\nGROSSE\nÉCLAIR',
      'grosse',
      [
        [1, 'Größe'],
        [2, 'GROSSE'],
      ],
    ],
    ['Größe\nŁódź', 'lodz', [[2, 'Łódź']]],
    ['﹤1\n㍿ granite\nx', 'granite', [[2, '㍿ granite']]],
    ['할머니\n김치찌개 레시피', '김치찌개', [[2, '김치찌개 레시피']]],
    ['granite', 'marble', []],
    ['', 'marble', []],
    ['last line\ngranite', 'granite', [[2, 'granite']]],
  ] as const)('%j for %j', (text, query, lines) => {
    expect(snippetsOf(text, wantedWords(query)).lines.map((one) => [one.line, one.text])).toEqual(lines);
  });

  test.each([
    ['x '.repeat(3000), 'granite', 'granite', 'granite'],
    ['x '.repeat(2047), 'granite', 'granite', 'granite'],
    ['ß '.repeat(5000), 'granite', 'granite', 'granite'],
    ['x '.repeat(2045), 'Straßenfest', 'strassenfest', 'Straßenfest'],
    [`${'x '.repeat(2047)}x`, '𠮷野家', '𠮷野家', '𠮷野家'],
    ['x\u0302 '.repeat(2000), 'ﬁle', 'file', 'ﬁle'],
  ])('a word far behind in a long line is shown, and marked (%#)', (before, word, query, marked) => {
    const [one] = snippetsOf(`${before}${word} ${'y '.repeat(3000)}`, wantedWords(query)).lines;
    expect(one?.text.length).toBeLessThan(200);
    expect(one?.marks.map(([from, to]) => one.text.slice(from, to))).toEqual([marked]);
  });
});
