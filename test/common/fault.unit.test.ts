import { expect, test } from 'vitest';
import { Refusal } from '../../src/common/fault.ts';
import { safely } from '../../src/fields/safely.ts';
import { taskChange } from '../../src/tasks/fields.ts';

test('[NET-16] a refusal records no stack, and words its sentence when that is read', () => {
  let words = 0;
  const { stackTraceLimit } = Error;
  const refusal = new Refusal({
    kind: 'not_found',
    get what() {
      words += 1;
      return 'no task has this id';
    },
  });
  expect(words).toBe(0);
  expect(refusal.message).toBe('no task has this id');
  expect(String(refusal)).toBe('Refusal: no task has this id');
  expect(refusal.stack).not.toMatch(/\n\s+at /);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  expect(new Error('another').stack).toMatch(/\n\s+at /);
});

test('[NET-16] what is wrong with a value is found without an error and its stack', () => {
  const found = safely(taskChange, { due_date: 'tomorow' });
  expect(found.success).toBe(false);
  if (found.success) return;
  expect(found.error).not.toBeInstanceOf(Error);
  expect(found.error.issues).toContainEqual(expect.objectContaining({ path: ['due_date'] }));
});
