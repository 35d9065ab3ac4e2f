/** Sentences of a hub in the words of the command line. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spokenAnswer, spokenRefusal } from '../../src/client/spoken.ts';

const SOURCES = 'src';
/** Rooms whose texts no tool sends. */
const OTHER_ROOMS = /^(cli|client|manual|settings|web|ops)\//;
const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !OTHER_ROOMS.test(file))
  .map((file) => readFileSync(join(SOURCES, file), 'utf8'));

/** Names of prompts, which no sentence has. */
const PROMPTS: ReadonlySet<string> = new Set(['save_handoff']);

const toolNames = [
  ...new Set(
    files.flatMap((text) => [...text.matchAll(/(?:^\s+|\{ )name: '([a-z]+(?:_[a-z]+)+)',/gm)].map(([, name]) => name)),
  ),
].filter((name) => name !== undefined && !PROMPTS.has(name));

/** Every literal text of the hub, of more than one word, that has the name of a tool. */
const texts = files
  .flatMap((text) => text.split('\n'))
  .flatMap((line) => [...line.matchAll(/(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g)])
  .map(([, plain, template]) => plain ?? template ?? '')
  .filter((text) => text.includes(' ') && toolNames.some((name) => new RegExp(`\\b${name}\\b`).test(text)));

test('[CLI-6] no sentence of the hub names a tool at the command line: each is a command to type', () => {
  expect(toolNames.length).toBeGreaterThan(45);
  expect(texts.length).toBeGreaterThan(50);
  for (const text of texts) {
    const said = spokenRefusal(text);
    for (const name of toolNames) {
      expect(said.replaceAll(`\`cairn call ${name}\``, ''), text).not.toMatch(
        new RegExp(`(?<![./])\\b${name}\\b(?! changes)`),
      );
    }
  }
  for (const name of toolNames) expect(spokenRefusal(`${name} lists all`)).toMatch(/^`cairn [a-z _]+` lists all$/);
});

const SAID: readonly (readonly [sentence: string, said: string, path?: string])[] = [
  ['task not found; list_tasks lists all', 'task not found; `cairn tasks` lists all'],
  [
    'task not found; it is in the trash; update_task with restore: true brings it back',
    'task not found; it is in the trash; `cairn tasks restore ID` brings it back',
  ],
  [
    'path not found: a.md; sync_list lists the files',
    'path not found: a.md; `cairn sync list` lists the files',
    'a.md',
  ],
  [
    'path not found: notes/sync_list.md; sync_list lists the files',
    'path not found: notes/sync_list.md; `cairn sync list` lists the files',
    'notes/sync_list.md',
  ],
  ['path not found: sync_list was deleted', 'path not found: sync_list was deleted', 'sync_list'],
  [
    'Conflict: the file changed since base_sha (a b.md, now 12). Your bytes are kept as conflict c_1: call sync_merge with it, then sync_push with the base_sha it returns and resolves c_1; or sync_resolve_conflict',
    "Conflict: the file changed since the last sync (a b.md, now 12). Your bytes are kept as conflict c_1: run `cairn sync resolve 'a b.md' --keep merge` (or --keep mine, or --keep theirs, or --keep both)",
    'a b.md',
  ],
  ['due_date must be a date (YYYY-MM-DD)', '--due must be a date (YYYY-MM-DD)'],
  ['content must not be empty; omit it instead', 'the text must not be empty; leave it out instead'],
  [
    'limit must be between 1 and 100; category_id must be a whole number of 1 or more',
    '--limit must be between 1 and 100; --category must be a whole number of 1 or more',
  ],
  ['kanban_status must be one of backlog, todo', '--status must be one of backlog, todo'],
  [
    'the category work does not exist; or send create_category: true to create it',
    'the category work does not exist; or pass --new-category to create it',
  ],
  ['the content and the limit stay', 'the content and the limit stay'],
];

test('[CLI-6] fields are said as options, and a path is left as it is', () => {
  for (const [sentence, said, path] of SAID) expect(spokenRefusal(sentence, path)).toBe(said);
});

test('[CLI-6] an answer keeps the words of the user, and leads on by a command', () => {
  expect(spokenAnswer('#7 list_tasks is slow, due_date wrong')).toBe('#7 list_tasks is slow, due_date wrong');
  expect(spokenAnswer('task #7 is in the trash; update_task with restore: true brings it back within 30 days')).toBe(
    'task #7 is in the trash; `cairn tasks restore 7` brings it back within 30 days',
  );
});
