/** What is made of the exports of other programs, as tables. */
import { expect, test } from 'vitest';
import { notionPaths, relinked } from '../../../src/client/importing/notion.ts';
import { readTodoist } from '../../../src/client/importing/todoist.ts';

const HEAD = 'TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,AUTHOR,RESPONSIBLE,DATE,DATE_LANG,TIMEZONE\n';
const read = (rows: string) =>
  readTodoist(`\uFEFF${HEAD}${rows}`, 'Home', (text) => (text === 'tomorrow' ? '2026-12-02' : undefined));

test.each([
  [
    'a plain task',
    'task,Water the plants,,4,1,,,,,',
    { content: 'Water the plants', dueDate: null, isImportant: false },
  ],
  [
    'the highest priority',
    'task,Pay rent,,1,1,,,2026-12-01,en,',
    { content: 'Pay rent', dueDate: '2026-12-01', isImportant: true },
  ],
  [
    'a date with a time',
    'task,Call,,4,1,,,2026-12-01 15:00,en,',
    { content: 'Call', dueDate: '2026-12-01', isImportant: false },
  ],
  ['a date in words', 'task,Call,,4,1,,,tomorrow,en,', { content: 'Call', dueDate: '2026-12-02', isImportant: false }],
  [
    'a description',
    'task,Call,"Ask, twice",4,1,,,,,',
    { content: 'Call\nAsk, twice', dueDate: null, isImportant: false },
  ],
  [
    'a comment',
    'task,Call,,4,1,,,,,\nnote,The number is 12,,,,,,,,',
    { content: 'Call\nThe number is 12', dueDate: null, isImportant: false },
  ],
])('[CLI-4] %s of Todoist becomes a task', (_title, rows, task) => {
  expect(read(rows)).toEqual({ items: [{ ...task, category: 'Home' }], notices: [] });
});

test('[CLI-4] a subtask of Todoist names its parents, and a repeating date is kept as text and told', () => {
  const { items, notices } = read(
    'section,Garden,,,,,,,,\ntask,Move,,4,1,,,,,\ntask,Pack,,4,2,,,,,\ntask,Books,,4,3,,,every friday,en,\ntask,Next,,4,1,,,,,',
  );
  expect(items.map(({ content }) => content)).toEqual([
    'Move',
    'Move › Pack',
    'Move › Pack › Books\nDate: every friday',
    'Next',
  ]);
  expect(notices).toEqual(['Books: the date “every friday” is kept as text']);
});

test('[CLI-4] a file that is no project of Todoist is refused with a reason', () => {
  expect(() => readTodoist('a,b\n1,2', 'x.csv', () => undefined)).toThrow(/no column TYPE/);
  expect(() => readTodoist('TYPE,CONTENT\ntask,"open', 'x.csv', () => undefined)).toThrow(/not a CSV file/);
});

const id = (digit: string) => digit.repeat(32);

test('[CLI-4] names of Notion lose their ids, stay unique, and links follow', () => {
  const paths = notionPaths([
    `Home ${id('a')}.md`,
    `Home ${id('b')}.md`,
    `Home ${id('a')}/Plan B ${id('c')}.md`,
    `Home ${id('a')}/Tasks ${id('d')}_all.csv`,
    `Home ${id('a')}/photo.png`,
  ]);
  expect([...paths.values()].toSorted()).toEqual([
    'Home 2.md',
    'Home.md',
    'Home/Plan B.md',
    'Home/Tasks_all.csv',
    'Home/photo.png',
  ]);
  const text = `[Plan](Home%20${id('a')}/Plan%20B%20${id('c')}.md) [out](https://example.org/a) ![](Home%20${id('a')}/photo.png)`;
  expect(relinked(text, `Home ${id('a')}.md`, paths)).toBe(
    '[Plan](Home/Plan%20B.md) [out](https://example.org/a) ![](Home/photo.png)',
  );
  expect(relinked(`[up](../Home%20${id('a')}.md)`, `Home ${id('a')}/Plan B ${id('c')}.md`, paths)).toBe(
    '[up](../Home.md)',
  );
});
