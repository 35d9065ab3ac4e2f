/** Declares the tools that find and read whatever an account keeps, in the forms that assistants expect. */
import { defineTool, READS, type Tool } from '../gateway/tool.ts';
import type { Things } from '../ids/things.ts';
import { fetched, fetchedSchema, fetchInput } from './fetched.ts';

export function searchTools(things: Things): Tool[] {
  return [
    defineTool({
      name: 'fetch',
      title: 'Read by id',
      access: 'account',
      description: 'Reads a task, document or vault file whole, by an id from search or a cairn:// address.',
      input: fetchInput,
      output: fetchedSchema,
      annotations: READS,
      example: { id: 'cairn://tasks/1' },
      handle({ id }, { accountId }, { baseUrl }) {
        const structured = fetched(things.open(accountId, id), baseUrl);
        return { structured, text: JSON.stringify(structured) };
      },
    }),
  ];
}
