/** Finds a category of tasks and papers by its name, or by its number. */
import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { quoted, shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import type { ToolClient } from '../../../client/tools.ts';
import { nearest } from '../../../text/nearest.ts';

const categoriesSchema = z.object({ categories: z.array(z.object({ id: z.number(), name: z.string() })) });

/** The categories of the account. */
export async function allCategories(tools: ToolClient) {
  return readAs(categoriesSchema, (await tools.call('list_categories', {})).structured).categories;
}

/**
 * The id of a category that was typed as its number or its name, in any case. Throws ClientError with the names when there
 * is none.
 */
export async function categoryIdOf(tools: ToolClient, text: string | undefined): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const [, digits] = /^#?(\d{1,15})$/.exec(text) ?? [];
  if (digits !== undefined) return Number(digits);
  const categories = await allCategories(tools);
  const found = categories.find(({ name }) => folded(name) === folded(text));
  if (found !== undefined) return found.id;
  const names = categories.map(({ name }) => name);
  const guess = nearest(text, names);
  const listed = names.length === 0 ? 'there is none yet' : `there is: ${names.map(shownLine).join(', ')}`;
  const made = `\`cairn call create_category --name=${quoted(text)}\` makes it`;
  const hint = guess === undefined ? `${listed}; ${made}` : `did you mean ${shownLine(guess)}?`;
  throw new ClientError(`there is no category ${shownLine(text)}; ${hint}`);
}

const folded = (name: string): string => name.normalize('NFC').toLowerCase();
