/** Declares the tools that find and read whatever an account keeps, in the forms that assistants expect. */
import { defineTool, READS, type Tool } from '../gateway/tool.ts';
import type { Things } from '../ids/things.ts';
import { fetched, fetchedSchema, fetchInput } from './fetched.ts';
import { type Find, foundSchema, searchFields, searchPage } from './found.ts';

export function searchTools(things: Things, find: Find): Tool[] {
  return [
    defineTool({
      name: 'search',
      title: 'Search everything',
      access: 'account',
      description:
        'Finds tasks, documents, vault files and backups by words, the best first. fetch reads a result by its id.',
      input: searchFields,
      output: foundSchema,
      annotations: READS,
      hints: { search: 'search find notes text files documents tasks memory' },
      example: { query: 'certificate' },
      async handle(args, { accountId }, { baseUrl }) {
        const structured = await searchPage(find, accountId, args, baseUrl);
        return { structured, text: JSON.stringify(structured) };
      },
    }),
    defineTool({
      name: 'fetch',
      title: 'Read by id',
      access: 'account',
      description: 'Reads a task, document or vault file whole, by an id from search or a cairn:// address.',
      input: fetchInput,
      output: fetchedSchema,
      annotations: READS,
      hints: { search: 'fetch read by id' },
      example: { id: 'cairn://tasks/1' },
      handle({ id }, { accountId }, { baseUrl }) {
        const structured = fetched(things.open(accountId, id), baseUrl);
        return { structured, text: JSON.stringify(structured) };
      },
    }),
  ];
}
