/** Declares the input fields of tasks and categories, shared by tools, REST and pages. */
import type { z } from 'zod';
import { expectedVersion } from '../fields/expected-version.ts';
import { declaredCategory, declaredTask } from './declared.ts';

export const newTask = declaredTask.newInput;

/** A partial update: an absent field keeps its value. */
export const taskChange = declaredTask.changeInput.extend({ expected_version: expectedVersion });

export type TaskFields = z.output<typeof taskChange>;

export const newCategory = declaredCategory.newInput;

/** A partial update. */
export const categoryChange = declaredCategory.changeInput;

export type CategoryFields = z.output<typeof categoryChange>;
