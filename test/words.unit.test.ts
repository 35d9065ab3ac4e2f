/** Words that must not come back: they read as if translated, or are a library's sentence for a programmer. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What is wrong, and what to write instead. */
const WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(password|key|secret|token|version|state|those|rows?) of now\b/i, 'current'],
  [
    /\b(comes?|came|stands?|lies?|goes|go|goes on|ends?|begins?|asked for|one) behind\b(?! (a|the|any|its) (prox|link))/i,
    'after',
  ],
  [
    /\bbehind (one another|each other|kill -9|a HEAD|a DELETE|the last|the commit|the document|the metadata)\b/i,
    'after',
  ],
  [/(?<!there )\bis no (JSON|UTF-8|text|tar|clock|moment|email|object|string|refusal|valid|digest)\b/i, 'is not (a)'],
  [
    /\b(let an identity open|it opens nothing any more|turn it away|password of now|say what stays)\b/i,
    'see the manual',
  ],
  [/\b(must|may|does not) hold (no|at most|at least|64|strings|what was|\$\{|\d)/i, 'contain'],
  [/\bonly a part of\b.{0,30}\b(is|was) (shown|searched)\b/i, 'only some of the … are'],
  [/\bis shown only now\b|” is made\b/i, '… created. Copy it now: it is not shown again.'],
  [/\b(no section|sections?) ha(s|ve) [“"`]/i, 'contains'],
  [/\bthen ask again\b/i, 'call again'],
  [/\bmade out for\b|\bnothing of it was kept\b|, which is the most\b(?! \w)|\bis the most:/i, 'the standard term'],
  [/\bhub (that )?does not know its own\b/i, 'the hub has no …'],
];

/** Words for source and manual only: in the title of a test they do no harm. */
const SOURCE_WORDS: typeof WORDS = [
  [/\bfor good\b/i, 'permanently'],
  [/\bnever had one\b|\bthose cannot be\b/i, 'the noun'],
  [/\bby (itself|themselves)\b/i, 'automatically'],
  [/\ba (folder|thread|file|page|key|process|socket) of its own\b/i, 'a separate …'],
  [/\bpower cut\b/i, 'power failure'],
  [/\b(than|after) that of the (version|upload|line)\b/i, 'than in the previous …'],
  [/\banew\b/i, 'again'],
  [/\b(that|which|it) is not there\b/i, 'does not exist'],
  [/\bso many (bytes|milliseconds|checks|others|wrong)\b|\bafter so long\b/i, 'this many …'],
];

/** Sentences of zod: `fields/sentences.ts` words what is wrong. */
const LIBRARY = /Invalid input: expected|expected \w+, received|Too (small|big): expected/;

function filesOf(folder: string, ending: RegExp): { path: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(ROOT, file), text: readFileSync(file, 'utf8') }));
}

const OWN = 'test/words.unit.test.ts';
const all = [
  ...filesOf('src', /\.(tsx?|js|md)$/),
  ...filesOf('workers', /\.ts$/),
  ...filesOf('test', /\.(tsx?|md)$/).filter(({ path }) => path !== OWN),
  { path: 'README.md', text: readFileSync(join(ROOT, 'README.md'), 'utf8') },
];

test.each(WORDS)('nothing says %s', (pattern, instead) => {
  expect(occurrences(all, pattern, instead)).toEqual([]);
});

test.each(SOURCE_WORDS)('neither source nor manual says %s', (pattern, instead) => {
  const source = all.filter(({ path }) => !path.startsWith('test/'));
  expect(occurrences(source, pattern, instead)).toEqual([]);
});

function occurrences(files: typeof all, pattern: RegExp, instead: string): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
      .filter(({ line }) => pattern.test(line))
      .map(({ line, place }) => `${place}: ${line.trim()} (write: ${instead})`),
  );
}

test('no sentence of the validation library reaches a person', () => {
  const source = all.filter(({ path }) => path.startsWith('src/'));
  expect(source.filter(({ text }) => LIBRARY.test(text)).map(({ path }) => path)).toEqual([]);
});
