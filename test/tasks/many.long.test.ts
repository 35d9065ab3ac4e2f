/** Many tasks: lists, totals and searches stay those of a plain model. */
import { test } from 'vitest';
import { expectManyRight } from './beside-model.ts';

test('[TASK-3] 10,000 tasks: every filter in every order gives the right pages and totals', async () => {
  await expectManyRight(10_000);
}, 240_000);
