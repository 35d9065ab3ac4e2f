/** What is read without zod is what zod reads; what zod refuses is never read. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readerOf, UNREAD } from '../../src/fields/compiled.ts';
import { safely } from '../../src/fields/safely.ts';
import { uploadHeaders } from '../../src/mirror/fields.ts';
import { newTask, taskChange } from '../../src/tasks/fields.ts';
import { listArguments } from '../../src/tasks/list/arguments.ts';

const own = z
  .strictObject({
    text: z.string().trim().min(1).max(5),
    kind: z.enum(['a', 'b']).default('a'),
    one: z.literal(1).optional(),
    flag: z.boolean().optional(),
    maybe: z.string().nullable().optional(),
    given: z.string().default('x').optional(),
    exact: z.string().exactOptional(),
    number: z.int().min(1).optional(),
    coerced: z.coerce.string().optional(),
    list: z.array(z.string()).max(2).optional(),
    either: z.union([z.string(), z.boolean()]).optional(),
    made: z
      .string()
      .transform((text) => text.length)
      .optional(),
    inner: z.object({ deep: z.string().optional(), day: z.iso.date().optional() }).optional(),
    loose: z.looseObject({ known: z.string().optional() }).optional(),
    anything: z.unknown(),
  })
  .refine(({ text }) => text !== 'no', 'must be yes');

const SCHEMAS: readonly z.ZodObject[] = [own, newTask, taskChange, listArguments, uploadHeaders];

/** Values of every kind, for any field. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  'a',
  ' b ',
  'no',
  'much too long a text',
  '2026-12-01',
  '2026-02-31',
  'a'.repeat(40),
  'A'.repeat(64),
  `sha256=${'b'.repeat(64)}`,
  0,
  1,
  -1,
  1.5,
  Number.NaN,
  true,
  false,
  [],
  ['a'],
  ['a', 'b', 'c'],
  [1],
  {},
  { deep: 'a', other: 1 },
  { day: '2026-12-01' },
  { day: 'never' },
  { known: 1 },
  { length: 3 },
  { length: { toString: 1 } },
];

/** A whole object that the schema accepts, as far as it needs one. */
const BASES: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { text: 'ab' },
  { text: 'ab', anything: 1 },
  { content: 'Renew the certificate', due_date: '2026-12-01' },
  {
    'X-Commit-Sha': 'a'.repeat(40),
    'X-Tarball-Sha256': 'A'.repeat(64),
    'X-Mirror-Signature': `sha256=${'b'.repeat(64)}`,
    'X-Uploaded-By': undefined,
  },
];

function zodReads(schema: z.ZodObject, value: unknown): unknown {
  try {
    const read = schema.safeParse(value);
    return read.success ? read.data : UNREAD;
  } catch {
    return UNREAD;
  }
}

/** As in `safely`, where zod then throws or refuses. */
function compiledReads(schema: z.ZodObject, value: unknown): unknown {
  try {
    return readerOf(schema)(value);
  } catch {
    return UNREAD;
  }
}

test.each(SCHEMAS.map((schema, index) => ({ schema, index })))(
  '[NET-5] schema $index: any value in any field is read as zod reads it, or not at all',
  ({ schema }) => {
    const names = [...Object.keys(schema.shape), 'undeclared', 'constructor'];
    let read = 0;
    for (const base of BASES) {
      for (const value of [base, ...names.flatMap((name) => VALUES.map((one) => ({ ...base, [name]: one })))]) {
        const expected = zodReads(schema, value);
        expect(compiledReads(schema, value)).toStrictEqual(expected);
        if (expected !== UNREAD) read += 1;
      }
    }
    expect(read).toBeGreaterThan(10);
  },
);

test.each([undefined, null, 'text', 1, [], ['a']])('[NET-5] %j is left to zod', (value) => {
  for (const schema of SCHEMAS) expect(readerOf(schema)(value)).toBe(UNREAD);
});

test('[NET-5] a schema that contains itself is read', () => {
  const tree = z.object({
    name: z.string(),
    get child() {
      return tree.optional();
    },
  });
  const value = { name: 'a', child: { name: 'b', child: { name: 'c' } } };
  expect(readerOf(tree)(value)).toStrictEqual(value);
  expect(readerOf(tree)({ name: 'a', child: { name: 1 } })).toBe(UNREAD);
});

test('[NET-5] what is invalid is refused with the sentences of zod', () => {
  expect(safely(own, { text: 'much too long', anything: 1 })).toMatchObject({
    success: false,
    error: { issues: [{ code: 'too_big', path: ['text'] }] },
  });
});
