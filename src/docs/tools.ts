/** The tools over dev docs. */
import { z } from 'zod';
import { ADDS, defineTool, READS, type Tool } from '../gateway/tool.ts';
import { limits } from '../limits.ts';
import { CATEGORIES, CONTENT_TYPES } from './records.ts';
import type { DevDocs } from './service.ts';
import { deletedDocSchema, docSchema, docView, pulledDocSchema } from './views.ts';

/** Real names, known categories and the bytes of a text are checked by the rules. */
const title = z.string().min(1).max(limits.documentTitleCharsMax);
const category = z.string().min(1).max(limits.devDocCategoryCharsMax);
const content = z.string().max(limits.documentBytesMax).describe('The text, at most 1 MiB');
const onlyCategory = category.optional().describe('Only this category; see list_dev_categories');
const cursor = z.string().min(1).max(limits.cursorCharsMax).optional().describe('Where an earlier answer ended');

/** Every tool of this capability. */
export function devDocTools(docs: DevDocs): Tool[] {
  return [createDevDoc(docs), pullDevDocs(docs)];
}

function createDevDoc(docs: DevDocs): Tool {
  return defineTool({
    name: 'create_dev_doc',
    access: 'account',
    description: 'Keeps a new document for agents, such as a CLAUDE.md, a cursor rule, a skill or a note.',
    input: z.strictObject({
      title: title.describe('Unique within its category, e.g. CLAUDE.md'),
      content,
      category: category.optional().describe(`One of ${CATEGORIES.join(', ')}, or one of your own; default docs`),
      content_type: z.enum(CONTENT_TYPES).optional().describe('Default: what the ending of the title says'),
      create_category: z.boolean().optional().describe('True: makes the category when you have none of that name'),
    }),
    output: z.object({ doc: docSchema }),
    annotations: ADDS,
    example: { title: 'CLAUDE.md', content: '# House rules\n\nSmall commits.\n', category: 'claude' },
    async handle(args, { accountId }) {
      const doc = await docs.create(accountId, args);
      return { structured: { doc: docView(doc) }, text: `created dev doc #${doc.id} ${doc.category}/${doc.title}` };
    },
  });
}

function pullDevDocs(docs: DevDocs): Tool {
  return defineTool({
    name: 'pull_dev_docs',
    access: 'account',
    description:
      'Gives dev docs with their content, all of them or those that changed since. Comes as NDJSON when asked for or large.',
    input: z.strictObject({
      category: onlyCategory,
      since: z.string().min(1).max(limits.instantCharsMax).optional().describe('Only what changed after it, ISO 8601'),
      cursor: cursor.describe('Only what changed after an earlier pull: its cursor'),
    }),
    output: z.object({
      docs: z.array(pulledDocSchema),
      deleted: z.array(deletedDocSchema).describe('What went to the bin since'),
      total_count: z.int().nonnegative().describe('Records in this answer, deleted ones too'),
      total_size_bytes: z.int().nonnegative().describe('Of the contents in this answer'),
      cursor: z.string().describe('For the next pull'),
      has_more: z.boolean().describe('True: pull again with the cursor now'),
      server_time: z.string().describe('ISO 8601 UTC; a since that misses nothing'),
    }),
    annotations: READS,
    lists: true,
    example: { category: 'claude' },
    handle(args, { accountId }) {
      const found = docs.pull(accountId, args);
      const { docCount, deletedCount, sizeBytes, hasMore } = found;
      const more = hasMore ? '; there are more, pull again with the cursor' : '';
      const gone = deletedCount === 0 ? '' : `, ${deletedCount} deleted`;
      return {
        structured: { cursor: found.cursor, has_more: hasMore, server_time: found.serverTime },
        text: `${docCount} dev docs with ${sizeBytes} bytes${gone}${more}`,
        listing: {
          count: docCount + deletedCount,
          sizeBytes,
          lines: found.all,
          members: { docs: found.docs, deleted: found.deleted },
        },
      };
    },
  });
}
