/** Declares the tools that read, edit and write a text by its id. */
import { z } from 'zod';
import { ADDS, defineTool, READS, SETS, type Tool } from '../../gateway/tool.ts';
import { plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { ThingChanges } from '../things/change.ts';
import { openThing } from '../things/open.ts';
import { textPartOf } from '../things/portion.ts';
import type { OpenedThing, Shelves } from '../things/thing.ts';
import { minute, sizeText } from './shown.ts';

/** The id of a thing, or a path. */
export const thingId = z.string().min(1).max(limits.thingIdCharsMax);
const text = z.string().max(limits.fileBytesMax);
export const versionArgument = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

const writtenSchema = {
  id: z.string(),
  version: z.int().nonnegative().describe('Guards the next change'),
  status: z.enum(['created', 'updated', 'unchanged']),
};

export function textTools(shelves: Shelves, changes: ThingChanges): Tool[] {
  return [readTool(shelves), editTool(changes), writeTool(changes)];
}

function readTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'read',
    title: 'Read a file or document',
    access: 'account',
    description:
      'Reads a file, note, dev doc, handoff, paper, task or conflict by id (cairn://…) or by path in the primary vault: all, some lines, or the section under a heading.',
    input: z.strictObject({
      id: thingId,
      lines: z.string().max(20).optional().describe('40, 40-80 or 40-'),
      heading: z.string().min(1).max(limits.headingCharsMax).optional(),
      version: versionArgument.describe('Default: current'),
      cursor: z.string().max(limits.cursorCharsMax).optional(),
    }),
    output: z.object({
      id: z.string(),
      what: z.string(),
      version: z.int().nonnegative(),
      size_bytes: z.int().nonnegative(),
      changed_at: z.string(),
      changed_by: z.string().nullable(),
      sha256: z.string().optional().describe('Of a file'),
      content: z.string().nullable().describe('Null for bytes that are no text'),
      from_line: z.int().nonnegative(),
      to_line: z.int().nonnegative(),
      total_lines: z.int().nonnegative(),
      cursor: z.string().nullable().describe('Where to go on; null: this is all'),
    }),
    annotations: READS,
    hints: {
      search: 'read open show file note document lines section image',
      resultCharsMax: 2 * limits.readPageBytes + HEADLINE_CHARS,
    },
    example: { id: 'notes/today.md', lines: '1-40' },
    async handle({ id, version: asked, ...portion }, { accountId }) {
      const { thing } = await openThing(shelves, accountId, id, asked);
      if (thing.text === undefined) return bytesResult(thing);
      const part = textPartOf(thing.text, portion, limits.readPageBytes);
      const { from, to, total, next } = part;
      const isAll = from <= 1 && to === total && next === undefined;
      const which = isAll ? plural(total, 'line') : `lines ${from}-${to} of ${total}`;
      const more = next === undefined ? '' : `; go on with cursor "${next}"`;
      return {
        structured: {
          ...factsOf(thing),
          content: part.text,
          from_line: from,
          to_line: to,
          total_lines: total,
          cursor: next ?? null,
        },
        text: `${headline(thing, which)}${more}\n\n${part.text}`,
      };
    },
  });
}

function factsOf({ id, what, version: at, sizeBytes, changedAt, changedBy, sha256 }: OpenedThing) {
  return {
    id,
    what,
    version: at,
    size_bytes: sizeBytes,
    changed_at: changedAt,
    changed_by: changedBy ?? null,
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

function headline(
  { id, what, version: at, sizeBytes, changedAt, changedBy, note }: OpenedThing,
  which: string,
): string {
  const by = changedBy === undefined ? '' : ` by ${changedBy}`;
  const more = note === undefined ? '' : `; ${note}`;
  return `${id} (${what}, version ${at}, ${which}, ${sizeText(sizeBytes)}, changed ${minute(changedAt)}${by}${more})`;
}

/** Room for the line above a page; the page itself is escaped once, which can double it. */
const HEADLINE_CHARS = 4096;

/** The media types that models see as pictures, by the first bytes of a file. */
const PICTURES: readonly (readonly [type: string, start: RegExp])[] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
];

/** A picture as one; of other bytes only what they are. */
function bytesResult(thing: OpenedThing) {
  const { bytes = Buffer.alloc(0) } = thing;
  const start = bytes.subarray(0, 16).toString('latin1');
  const type = PICTURES.find(([, pattern]) => pattern.test(start))?.[0];
  const isShown = type !== undefined && bytes.length <= limits.readPictureBytesMax;
  const what = type === undefined ? 'no text' : isShown ? type : `${type}, too large to show here`;
  return {
    structured: { ...factsOf(thing), content: null, from_line: 0, to_line: 0, total_lines: 0, cursor: null },
    text: headline(thing, what),
    ...(isShown ? { picture: { mimeType: type, data: bytes.toString('base64') } } : {}),
  };
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
      section: z.string().min(1).max(limits.headingCharsMax).optional().describe('A heading'),
      text: text.optional(),
      append: text.optional(),
      version: versionArgument.describe('Refused if changed since'),
    }),
    output: z.object({ ...writtenSchema, changes: z.int().nonnegative(), line: z.int().nonnegative() }),
    annotations: ADDS,
    hints: { search: 'edit change replace append insert text in file note document' },
    example: { id: 'notes/today.md', append: '- Call the printer.\n' },
    async handle({ id, version: asked, ...request }, principal) {
      const { written, changes: count, line } = await changes.edit(principal, id, request, asked);
      const places = count > 1 ? `, ${count} places` : '';
      const done = written.status === 'unchanged' ? 'is as you want it already' : `is edited at line ${line}${places}`;
      return {
        structured: { ...written, changes: written.status === 'unchanged' ? 0 : count, line },
        text: `${written.id} ${done}; version ${written.version}`,
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
    input: z.strictObject({ id: thingId, content: text, version: versionArgument.describe('To replace') }),
    output: z.object(writtenSchema),
    annotations: SETS,
    hints: { search: 'write create save new file note document rule skill memory' },
    example: { id: 'notes/plan.md', content: '# Plan\n' },
    async handle({ id, content, version: asked }, principal) {
      const written = await changes.write(principal, id, content, asked);
      return { structured: { ...written }, text: `${written.id} is ${written.status}; version ${written.version}` };
    },
  });
}
