/**
 * Does the search find the right page among the first three? 50 questions over the documentation of three public projects,
 * in Korean, Japanese and English: `questions.json`. The texts are not here: give a folder with a checkout of each one.
 *
 * node dist/bench/questions.js FOLDER   # FOLDER/vite-ko, FOLDER/vue-ja, FOLDER/hono, at the commits of questions.json
 *
 * The yardstick is a walk over the same texts: those that have every word as typed, in the order of their paths.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Thing, ThingKind } from '../src/ids/thing.ts';
import { Indexer } from '../src/search/indexer.ts';
import { textThing } from '../test/support/text-thing.ts';

interface Questions {
  readonly corpora: readonly { readonly name: string; readonly repository: string; readonly commit: string }[];
  /** What is typed, and the file that answers it. */
  readonly questions: readonly (readonly [query: string, file: string])[];
}

const FIRST = 3;
const [, , folder] = process.argv;
if (folder === undefined) throw new Error('usage: node dist/bench/questions.js FOLDER');
const source = new URL('../../bench/questions.json', import.meta.url);
const { corpora, questions } = JSON.parse(readFileSync(source, 'utf8')) as Questions;

/** The texts by their paths below the folder. */
const texts = new Map<string, string>();
for (const { name } of corpora) {
  const files = readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((path) => path.endsWith('.md') && !path.startsWith('.')).sort())
    texts.set(`${name}/${file}`, readFileSync(join(folder, name, file), 'utf8'));
}

const kind: ThingKind = {
  kind: 'file',
  templates: [],
  find: () => undefined,
  read: (_reader, _accountId, key) => thingOf(key),
  *keys(_reader, _accountId, after) {
    const keys = [...texts.keys()];
    yield* after === undefined ? keys : keys.slice(keys.indexOf(after) + 1);
  },
  writtenBy: [],
};

function thingOf(path: string): Thing | undefined {
  const text = texts.get(path);
  if (text === undefined) return undefined;
  return textThing({ key: path, title: path.slice(path.lastIndexOf('/') + 1), place: path, text, stamp: 1 });
}

// The texts are in memory: nothing is read from a store.
const reader = { renew: () => undefined } as unknown as ConstructorParameters<typeof Indexer>[0]['reader'];
const indexer = new Indexer({ reader, kinds: [kind], now: Date.now });
let found = 0;
let walked = 0;
for (const [query, file] of questions) {
  if (!texts.has(file)) throw new Error(`${file} is not in ${folder}`);
  const { results, missing } = await indexer.search({
    accountId: 'a',
    query,
    kinds: undefined,
    ranking: 0,
    offset: 0,
    limit: 10,
  });
  const place = results.findIndex(({ id }) => id === file) + 1;
  if (place >= 1 && place <= FIRST) found += 1;
  const words = query.toLowerCase().split(' ');
  const having = [...texts].filter(([, text]) => words.every((word) => text.toLowerCase().includes(word)));
  if (having.slice(0, FIRST).some(([path]) => path === file)) walked += 1;
  if (place < 1 || place > FIRST)
    process.stdout.write(
      `${query}: ${file} is ${place === 0 ? 'not among the first ten' : `number ${place}`}; missing: ${missing.join(' ') || 'nothing'}; first: ${results
        .slice(0, FIRST)
        .map(({ id }) => id)
        .join(', ')}\n`,
    );
}
process.stdout.write(
  `${texts.size} texts: the right one is among the first ${FIRST} for ${found} of ${questions.length} questions; by a walk in the order of paths for ${walked}\n`,
);
