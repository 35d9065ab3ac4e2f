/** Declares the input fields of tasks and categories, shared by tools, REST and pages. */
import { z } from 'zod';
import { expectedVersion } from '../fields/expected-version.ts';
import { declaredCategory, declaredTask } from './declared.ts';

export const newTask = declaredTask.newInput;

/** A partial update: an absent field keeps its value. */
export const taskChange = declaredTask.changeInput.extend({ expected_version: expectedVersion });

const restore = z.boolean().optional().describe('Brings it back from the trash');

/** Also of a task in the trash. */
export const taskChangeOrRestore = taskChange.extend({ restore });

export type TaskFields = z.output<typeof taskChange>;

export const newCategory = declaredCategory.newInput;

/** A partial update. */
export const categoryChange = declaredCategory.changeInput;

/** Also of a category in the trash. */
export const categoryChangeOrRestore = categoryChange.extend({ restore });

export type CategoryFields = z.output<typeof categoryChange>;
