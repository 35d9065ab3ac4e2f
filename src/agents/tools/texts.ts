/** Declares the tools that edit and write a text by its id. */
import { z } from 'zod';
import { declaredPaper } from '../../documents/papers/declared.ts';
import { ADDS, defineTool, SETS, type Tool } from '../../gateway/tool.ts';
import { limits } from '../../limits/service.ts';
import type { ThingChanges } from '../things/change.ts';
import { thingId, versionArgument } from './read.ts';

const text = z.string().max(limits.fileBytesMax);
const replacement = z.strictObject({ old: text, new: text, all: z.boolean().optional() });

const writtenSchema = {
  id: z.string(),
  version: z.int().nonnegative().describe('Guards the next change'),
  status: z.enum(['created', 'updated', 'unchanged']),
};

export function textTools(changes: ThingChanges): Tool[] {
  return [editTool(changes), writeTool(changes)];
}

function editTool(changes: ThingChanges): Tool {
  return defineTool({
    name: 'edit',
    title: 'Edit a file or document',
    access: 'account',
    description:
      'Changes a part of a text: old becomes new; section gets text as its body, or append at its end; append alone adds at the end. If old does not match, the answer shows what is there.',
    input: z.strictObject({
      id: thingId,
      old: text.optional().describe('Exact, and there once'),
      new: text.optional(),
      all: z.boolean().optional().describe('Every place'),
      edits: z
        .array(replacement)
        .min(1)
        .max(limits.editsAtOnceMax)
        .optional()
        .describe('Several replacements: all of them, or none'),
      section: z.string().min(1).max(limits.headingCharsMax).optional().describe('A heading'),
      text: text.optional(),
      append: text.optional(),
      version: versionArgument.describe('Refused if changed since'),
    }),
    output: z.object({
      ...writtenSchema,
      changes: z.int().nonnegative(),
      line: z.int().nonnegative(),
      now: z.string().optional().describe('The first changed line'),
      gone: z.array(z.string()).optional().describe('Headings that went with the body of a section'),
    }),
    annotations: ADDS,
    hints: { search: 'edit change replace append insert text in file note document' },
    example: { id: 'notes/today.md', append: '- Call the printer.\n' },
    async handle({ id, version: asked, ...request }, principal) {
      const { written, changes: count, line, now, gone = [] } = await changes.edit(principal, id, request, asked);
      const isSame = written.status === 'unchanged';
      const places = count > 1 ? `, ${count} places` : '';
      const done = isSame ? 'is as you want it already' : `is edited at line ${line}${places}`;
      const shown = now === undefined || now === '' || isSame ? '' : `: ${now}`;
      const lost =
        gone.length === 0 ? '' : `; the sections below it went with its body: ${gone.join(', ')} (history, restore)`;
      return {
        structured: {
          ...written,
          changes: isSame ? 0 : count,
          line,
          ...(now === undefined || isSame ? {} : { now }),
          ...(lost === '' ? {} : { gone: [...gone] }),
        },
        text: `${written.id} ${done}; version ${written.version}${shown}${lost}`,
      };
    },
  });
}

function writeTool(changes: ThingChanges): Tool {
  return defineTool({
    name: 'write',
    title: 'Write a file or document',
    access: 'account',
    description:
      'Writes a whole text: a note or file in a vault, a dev doc (rule, skill, command), or a paper (cairn://papers/new). A text that exists is replaced only with the version that you read.',
    input: z.strictObject({
      id: thingId,
      content: text.optional(),
      version: versionArgument.describe('To replace'),
      published: z.boolean().optional().describe('Of a paper'),
      title: declaredPaper.inputs.title.optional().describe('Of a paper'),
      category: z.string().max(limits.categoryNameCharsMax).nullable().optional().describe('Of a paper'),
    }),
    output: z.object({ ...writtenSchema, note: z.string().optional() }),
    annotations: SETS,
    hints: { search: 'write create save new file note document rule skill memory paper publish' },
    example: { id: 'notes/plan.md', content: '# Plan\n' },
    async handle({ id, content, version: asked, published, title, category }, principal) {
      const ofPaper = {
        ...(title === undefined ? {} : { title }),
        ...(category === undefined ? {} : { category }),
        ...(published === undefined ? {} : { published }),
      };
      const written = await changes.write(principal, id, { text: content, ofPaper }, asked);
      const shown = published === undefined ? '' : published ? ', published' : ', a draft';
      const note = written.note === undefined ? '' : ` (${written.note})`;
      return {
        structured: { ...written },
        text: `${written.id} is ${written.status}${shown}; version ${written.version}${note}`,
      };
    },
  });
}
