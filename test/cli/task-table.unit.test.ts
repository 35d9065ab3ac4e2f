/** How tasks are listed for people. */
import { expect, test } from 'vitest';
import { dayWords, type ListedTask, moreTasks, taskTable } from '../../src/cli/user/task-table.ts';

const TODAY = '2026-11-25';

test.each([
  ['2026-11-24', 'yesterday'],
  ['2026-11-25', 'today'],
  ['2026-11-26', 'tomorrow'],
  ['2026-11-27', 'Fri 27 Nov'],
  ['2026-01-01', 'Thu 1 Jan'],
  ['2027-03-05', 'Fri 5 Mar 2027'],
])('[CLI-5] %s is said as %s', (day, words) => {
  expect(dayWords(day, TODAY)).toBe(words);
});

function task(id: number, content: string, more: Partial<ListedTask> = {}): ListedTask {
  const none = { due_date: null, is_important: false, completed: false, kanban_status: 'todo', category_id: null };
  return { id, content, ...none, ...more };
}

const TASKS = [
  task(12, 'Call the bank'),
  task(3, 'Renew the certificate', { due_date: '2026-11-26', is_important: true, category_id: 4 }),
  task(7, 'Water the plants', { due_date: '2026-11-23', kanban_status: 'in_progress' }),
];

test('[CLI-5] tasks are a table by due date, with names of categories', () => {
  const plain = { today: TODAY, columns: undefined, hasColour: false };
  expect(taskTable(TASKS, new Map([[4, 'Work']]), plain).split('\n')).toEqual([
    'ID   DUE                  STATUS       CATEGORY  TASK',
    '#7   Mon 23 Nov, overdue  in progress            Water the plants',
    '#3   tomorrow             todo         Work      ! Renew the certificate',
    '#12                       todo                   Call the bank',
  ]);
});

test('[CLI-5] a narrow terminal gets a cut text, a very narrow one a line of its own, and nothing acts on it', () => {
  const style = { today: TODAY, hasColour: false };
  const long = [task(1, `${'x'.repeat(60)}`), task(2, '\u001b[31mred\nline')];
  const lines = taskTable(long, new Map(), { ...style, columns: 40 }).split('\n');
  expect(lines[1]).toBe(`#1  todo    ${'x'.repeat(27)}…`);
  expect(lines[2]).toContain('\\u{1b}[31mred\\u{a}line');
  expect(taskTable(long, new Map(), { ...style, columns: 20 }).split('\n')[2]).toBe(`    ${'x'.repeat(60)}`);
});

test('[CLI-5] what follows a page is said: tasks with later dates, or newer ones without a date', () => {
  const dated = task(3, 'x', { due_date: '2026-11-26' });
  expect(moreTasks([dated, dated], 2)).toBe(
    'There are more: --offset 2 continues, or narrow with --search, --category or --status.',
  );
  expect(moreTasks([dated, task(12, 'x')], 52)).toBe(
    'There are more without a date, newer than these: --offset 52 continues, or narrow with --search, --category or --status.',
  );
});

test('[CLI-5] on a terminal what is overdue is red', () => {
  const shown = taskTable(TASKS, new Map(), { today: TODAY, columns: 100, hasColour: true });
  expect(shown).toContain('\u001b[31mMon 23 Nov, overdue\u001b[0m');
});
