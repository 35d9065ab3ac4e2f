/** Finds a category of tasks and papers by its name, which is all that a model knows of it. */
import { invalidField } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { readFields } from '../../fields/read.ts';
import { newCategory } from '../../tasks/fields.ts';
import type { Tasks } from '../../tasks/service.ts';

/** The id of a category with a name in any case. An unknown one is created, unless it is like another: then it is a slip. */
export async function categoryOf(
  tasks: Tasks,
  { accountId }: Principal,
  name: string | undefined,
): Promise<number | undefined> {
  if (name === undefined || name.trim() === '') return undefined;
  const { id, guess } = tasks.categories.named(accountId, name);
  if (id !== undefined) return id;
  if (guess === undefined) return (await tasks.categories.create(accountId, readFields(newCategory, { name }))).id;
  throw invalidField('category', `no category ${name}; did you mean ${guess}?`);
}
