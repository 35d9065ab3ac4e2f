/** Things whose texts are read for phrases, while others write and delete. */
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import type { RankedThing } from '../../src/search/account-index.ts';
import { checkPhrases } from '../../src/search/phrase-check.ts';
import { textThing } from '../support/text-thing.ts';

const thingOf = (key: string, text: string) => textThing({ key, title: key, place: '', text, stamp: 1 });
const ranked = (key: string) => ({ key, score: 1, toCheck: 1 }) as unknown as RankedThing;
const keysOf = (found: readonly RankedThing[]) => found.map(({ key }) => key);

test('[FIND-4] what is deleted while texts are read for a phrase is not found', async () => {
  const texts = new Map([['here', 'the red door']]);
  const { found, isAll } = await checkPhrases(['gone', 'here'].map(ranked), {
    needs: 'all',
    phrases: [['red', 'door']],
    withoutPhrases: [],
    room: limits.searchPhraseChars,
    open: ({ key }) => (texts.has(key) ? thingOf(key, texts.get(key) ?? '') : undefined),
    renew: () => undefined,
  });
  expect([keysOf(found), isAll]).toEqual([['here'], true]);
});

test('[FIND-4] after a pause, texts are read as they are then', async () => {
  let [stored, seen] = ['the red door', 'the red door'];
  const { found } = await checkPhrases(['one', 'two'].map(ranked), {
    needs: 'all',
    phrases: [['red', 'door']],
    withoutPhrases: [],
    room: limits.searchPhraseChars,
    open({ key }) {
      const thing = thingOf(key, seen);
      // Longer than a slice lasts: somebody writes meanwhile.
      for (const endMs = performance.now() + limits.searchSliceMs; performance.now() <= endMs; );
      stored = 'the door is red';
      return thing;
    },
    renew() {
      seen = stored;
    },
  });
  expect(keysOf(found)).toEqual(['one']);
});
