import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { CALENDAR_END, type CalendarTask, calendarStart, calendarTask } from '../../../src/transfer/plain/calendar.ts';
import { csvLine } from '../../../src/transfer/plain/csv.ts';

test('[OPS-13] a table is read again as it was written', () => {
  const cells = ['plain', 'a "quoted", text', 'two\nlines', '', 'Grüße 😀'];
  expect(parse(csvLine(cells))).toEqual([cells]);
  expect(csvLine([1, true, null, undefined])).toBe('1,true,,\r\n');
});

test('[OPS-13] no cell is a formula of a spreadsheet', () => {
  const cells = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\0x', 'a=b'];
  expect(parse(csvLine(cells))).toEqual([["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\0x", 'a=b']]);
});

const task: CalendarTask['task'] = {
  id: 7,
  content: 'Renew; the certificate, now\n\nfirst \\ line\nsecond',
  due_date: '2026-12-01',
  is_important: true,
  completed: false,
  completed_at: null,
  category_id: 2,
  kanban_status: 'in_progress',
  created_at: '2026-11-26T18:20:00.123Z',
  updated_at: '2026-11-26T19:20:00.000Z',
};

test('[OPS-13] a task is a to-do of RFC 5545', () => {
  expect(calendarTask({ task, category: 'Home, garden' }, '1@cairn').split('\r\n')).toEqual([
    'BEGIN:VTODO',
    'UID:task-7-1@cairn',
    'DTSTAMP:20261126T192000Z',
    'CREATED:20261126T182000Z',
    'LAST-MODIFIED:20261126T192000Z',
    'SUMMARY:Renew\\; the certificate\\, now',
    'DESCRIPTION:first \\\\ line\\nsecond',
    'DUE;VALUE=DATE:20261201',
    'STATUS:IN-PROCESS',
    'PRIORITY:1',
    'CATEGORIES:Home\\, garden',
    'END:VTODO',
    '',
  ]);
});

test('[OPS-13] a plain task has no property without a value', () => {
  const done = { ...task, content: 'Done', due_date: null, is_important: false, kanban_status: 'done' } as const;
  const text = calendarTask({ task: { ...done, completed_at: task.updated_at }, category: undefined }, '1@cairn');
  expect(text).toContain('STATUS:COMPLETED\r\nCOMPLETED:20261126T192000Z\r\nEND:VTODO');
  expect(text).not.toMatch(/DESCRIPTION|DUE|PRIORITY|CATEGORIES/u);
});

test('[OPS-13] long lines are folded after 75 octets, never within a character', () => {
  const content = `${'ü😀'.repeat(60)} end`;
  const text = calendarTask({ task: { ...task, content }, category: undefined }, '1@cairn');
  for (const line of text.split('\r\n')) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(line.isWellFormed()).toBe(true);
  }
  expect(text.replaceAll('\r\n ', '')).toContain(`SUMMARY:${content}\r\n`);
});

test('[OPS-13] a line break that a text hides cannot add a property', () => {
  const content = 'a\u0000\u000b\rATTACH:file:///etc/passwd';
  const text = calendarTask({ task: { ...task, content }, category: undefined }, '1@cairn');
  expect(text.split('\r\n').filter((line) => line.startsWith('ATTACH'))).toEqual([]);
});

test('[OPS-13] a calendar begins and ends as one', () => {
  expect(calendarStart('1.0.0') + CALENDAR_END).toBe(
    'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Cairn//Cairn 1.0.0//EN\r\nCALSCALE:GREGORIAN\r\nEND:VCALENDAR\r\n',
  );
});
