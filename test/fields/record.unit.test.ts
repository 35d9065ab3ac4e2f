/** What follows from the fields of a declared record. */
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { instantUpTo } from '../../src/archive/records.ts';
import { deletedAtField, numberField, signedField, timeField } from '../../src/archive/usual-fields.ts';
import { parse } from '../../src/fields/read.ts';
import {
  computedField,
  decidedField,
  declareRecord,
  notesOf,
  optionalField,
  type RecordOf,
  requiredField,
} from '../../src/fields/record.ts';

const AT = '2026-11-20T20:18:57.123Z';

const fields = {
  id: numberField(1),
  title: requiredField(z.string().trim().min(1).max(10).describe('In short'), { example: 'A title' }),
  tags: optionalField(z.array(z.string()), { initial: [], example: ['a'], before: [] }),
  color: optionalField(z.string().toLowerCase().nullable(), { initial: null, says: 'Or null', example: 'red' }),
  place: decidedField(z.int().min(0).max(9), { example: 3 }),
  size: computedField<number>(),
  created_at: timeField,
  changed_by: signedField,
  deleted_at: deletedAtField,
};
const declared = declareRecord(fields);
const decided = { id: 7, place: 2, size: 5, created_at: AT, deleted_at: null };
const archived = declared.archivedAs('note', instantUpTo(Date.parse(AT)));

/** What a line of an archive is read as, or the sentences about it. */
const read = (line: object) => {
  const parsed = parse(archived, { type: 'note', ...line }, 'record');
  return 'value' in parsed ? parsed.value : Object.values(parsed.errors).flat();
};

test('the stored record has the type of its fields: a missing one does not compile', () => {
  expectTypeOf<RecordOf<typeof fields>>().toEqualTypeOf<{
    readonly id: number;
    readonly title: string;
    readonly tags: string[];
    readonly color: string | null;
    readonly place: number;
    readonly size: number;
    readonly created_at: string;
    readonly deleted_at: string | null;
    readonly changed_by?: string | undefined;
  }>();
  expectTypeOf<z.output<typeof declared.newInput>>().toEqualTypeOf<{
    title: string;
    tags?: string[] | undefined;
    color?: string | null | undefined;
    place?: number | undefined;
  }>();
  expectTypeOf(declared.make)
    .parameter(1)
    .toExtend<{ readonly id: number; readonly place: number; readonly size: number; readonly created_at: string }>();
  expectTypeOf<z.output<typeof archived>>().not.toHaveProperty('size');
  expectTypeOf(declared.show).returns.not.toHaveProperty('deleted_at');
});

test('a new record has what the caller gave, else the initial value, in the order of the fields', () => {
  const made = declared.make({ title: 'one' }, decided);
  expect(JSON.stringify(made)).toBe(
    `{"id":7,"title":"one","tags":[],"color":null,"place":2,"size":5,"created_at":"${AT}","deleted_at":null}`,
  );
  const given = { title: 'two', tags: ['b'], color: 'red', place: 9 };
  expect(declared.make(given, decided)).toEqual({ ...made, ...given, place: 2 });
});

test('a change of any member is one, of none is the same object', () => {
  const note = declared.make({ title: 'one', tags: ['a'] }, decided);
  expect(declared.change(note, { title: 'one', tags: ['a'], color: undefined })).toBe(note);
  expect(declared.change(note, {}, { place: 2 })).toBe(note);
  for (const given of [{ title: 'two' }, { tags: [] }, { color: 'red' }, { place: 4 }]) {
    expect(declared.change(note, given)).toEqual({ ...note, ...given });
  }
  expect(declared.change({ ...note, color: 'red' }, { color: null })).toEqual(note);
  expect(declared.change(note, { place: 4 }, { place: 5 })).toEqual({ ...note, place: 5 });
});

test('callers set their fields only, and may leave all out of a change', () => {
  expect(declared.inputsBeside(['tags']).map(({ name }) => name)).toEqual(['title', 'color', 'place']);
  expect(declared.newInput.safeParse({}).error?.issues.map(({ path }) => path)).toEqual([['title']]);
  expect(declared.newInput.parse({ title: ' x ' })).toEqual({ title: 'x' });
  expect(declared.changeInput.parse({})).toEqual({});
  for (const name of ['id', 'size', 'created_at', 'changed_by', 'deleted_at']) {
    expect(declared.changeInput.safeParse({ [name]: decided.id }).success).toBe(false);
  }
});

test('answers have the plain form of a field, and nothing internal', () => {
  const note = { ...declared.make({ title: 'one' }, decided), changed_by: 'laptop' };
  const { size: _size, deleted_at: _deleted, ...shown } = note;
  expect(declared.show(note)).toEqual(shown);
  expect(declared.shown.parse(declared.show(note))).toEqual(shown);
  expect(declared.shown.safeParse({ ...shown, title: 'longer than callers may send' }).success).toBe(true);
  expect(declared.shown.shape.color.description).toBe('Or null');
  expect(declared.shown.shape.title.description).toBeUndefined();
  expect(declared.example).toEqual({
    id: 1,
    title: 'A title',
    tags: ['a'],
    color: 'red',
    place: 3,
    created_at: AT,
    changed_by: 'laptop',
  });
});

test('fields without words of their own are noted when they have a value', () => {
  const others = declared.inputsBeside(['title']);
  expect(notesOf(others, declared.make({ title: 'one' }, { ...decided, place: 3 }))).toEqual(['place: 3']);
  expect(notesOf(others, declared.make({ title: 'one', tags: ['a'], color: 'red' }, decided))).toEqual([
    'tags: ["a"]',
    'color: "red"',
    'place: 2',
  ]);
});

test('an archive has what a caller could have sent, in its stored form, and nothing computed', () => {
  const { size: _, ...kept } = declared.make({ title: 'one', color: 'red' }, decided);
  expect(read(kept)).toEqual({ type: 'note', ...kept });
  expect(read({ ...kept, changed_by: 'phone' })).toEqual({ type: 'note', ...kept, changed_by: 'phone' });
  const { tags: _tags, ...older } = kept;
  expect(read(older)).toEqual({ type: 'note', ...kept });
  const { color: _color, ...incomplete } = kept;
  expect(read(incomplete)).toEqual(['color is required']);
  expect(read({ ...kept, size: 5 })).toEqual([expect.stringContaining('size is not a known field')]);
  expect(read({ ...kept, title: ' one' })).toEqual(['title is not in its stored form']);
  expect(read({ ...kept, color: 'RED', place: 10 })).toEqual([
    'color is not in its stored form',
    expect.stringContaining('place must be'),
  ]);
  expect(read({ ...kept, created_at: '2999-01-01T00:00:00.000Z' })).toEqual([expect.stringContaining('is ahead')]);
});
