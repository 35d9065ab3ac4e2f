/** Declares the tool that reads texts by their ids: one or a part of it, or several at once. */
import { z } from 'zod';
import { attempt } from '../../common/attempt.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { foldName } from '../../documents/rules.ts';
import { explainToModel } from '../../gateway/model-words.ts';
import { defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { docCategoryOf } from '../things/ids.ts';
import { openThing } from '../things/open.ts';
import { LINES_FORM, type TextPart, type TextPartRequest, textPartOf } from '../things/portion.ts';
import type { OpenedThing, Shelves } from '../things/thing.ts';
import { minute, sizeText } from './shown.ts';

/** The id of a thing, or a path. */
export const thingId = z.string().min(1).max(limits.thingIdCharsMax);
/** The ids of several things that one call changes. */
export const severalIds = z.array(thingId).min(1).max(limits.removedAtOnceMax);
export const versionArgument = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

const thingSchema = z.object({
  id: z.string(),
  what: z.string(),
  version: z.int().nonnegative(),
  size_bytes: z.int().nonnegative(),
  changed_at: z.string(),
  changed_by: z.string().nullable(),
  sha256: z.string().optional().describe('Of a file'),
  note: z.string().optional(),
  content: z.string().nullable().describe('Null for bytes that are no text'),
  from_line: z.int().nonnegative(),
  to_line: z.int().nonnegative(),
  total_lines: z.int().nonnegative(),
  cursor: z.string().nullable().describe('Where to continue; null: this is all'),
});

/** How to connect another client: the text for one of them, or for all. Throws Refusal `invalid_fields`. */
export type SetupText = (client: string | undefined, baseUrl: string) => string;

export function readTool(shelves: Shelves, setupText: SetupText): Tool {
  return defineTool({
    name: 'read',
    title: 'Read files or documents',
    access: 'account',
    description:
      'Reads a file, note, dev doc, handoff, paper, task or conflict by id (cairn://…) or by path in the primary vault: all, some lines, or the section under a heading. cairn://docs/skills/ reads all of a category.',
    input: z.strictObject({
      id: thingId.optional(),
      ids: z.array(thingId).min(1).max(limits.readAtOnceMax).optional().describe('Several, whole'),
      lines: z.string({ error: LINES_FORM }).max(20).optional().describe('40, 40-80 or 40-'),
      heading: z.string().min(1).max(limits.headingCharsMax).optional(),
      version: versionArgument.describe('Default: current'),
      cursor: z.string().max(limits.cursorCharsMax).optional(),
    }),
    output: z.object({
      ...thingSchema.shape,
      more: z.array(thingSchema).optional().describe('The others of several'),
      failed: z.array(z.object({ id: z.string(), says: z.string() })).optional(),
      unread: z.array(z.string()).optional().describe('Ids that had no room: read them next'),
    }),
    annotations: READS,
    hints: {
      search: 'read open show load file note document skills lines section image setup',
      resultCharsMax: 2 * limits.readPageBytes + HEADLINE_CHARS,
    },
    example: { id: 'notes/today.md', lines: '1-40' },
    async handle({ id, ids, version: asked, ...portion }, { accountId }, { baseUrl }) {
      if ((id === undefined) === (ids === undefined)) throw invalidField('id', 'send either id or ids');
      const setup = id === undefined ? null : SETUP.exec(id);
      if (id !== undefined && setup !== null) return setupResult(id, setupText(setup[1], baseUrl));
      const category = id === undefined ? undefined : docCategoryOf(id);
      if (id !== undefined && category === undefined) {
        return oneResult(await openThing(shelves, accountId, id, asked), portion);
      }
      const isPart = asked !== undefined || Object.values(portion).some((one) => one !== undefined);
      if (isPart) throw invalidField('id', 'lines, heading, version and cursor are for one id');
      return await several(shelves, accountId, ids ?? (await idsOf(shelves, accountId, category ?? '')));
    },
  });
}

/** `cairn://setup`, or that of one client. */
const SETUP = /^cairn:\/\/setup(?:\/([a-z-]+))?\/?$/;

function setupResult(id: string, text: string) {
  const { structured } = oneResult(
    { id, what: 'setup', version: 0, sizeBytes: Buffer.byteLength(text), changedAt: NEVER, changedBy: undefined, text },
    {},
  );
  return { structured, text };
}

const NEVER = new Date(0).toISOString();

/** The newest dev docs of a category. Throws Refusal `not_found` or `invalid_fields` when there are none. */
async function idsOf({ docs }: Shelves, accountId: string, category: string): Promise<string[]> {
  const isCategory = docs.categories(accountId).some(({ name }) => name === foldName(category));
  const titled = isCategory ? undefined : docs.titled(accountId, category);
  if (titled !== undefined)
    throw new Refusal({ kind: 'not_found', what: `no category ${category}; did you mean ${docUri(titled)}?` });
  const page = await docs.list(accountId, { category, limit: limits.devDocListMax });
  if (page.docs.length === 0)
    throw new Refusal({ kind: 'not_found', what: `no dev docs in the category ${category}`, next: 'list shows them' });
  return page.docs.map(docUri);
}

/** Reads things whole, one after another, while there is room, and names the others. One that is larger than an answer is cut only if it is first. */
async function several(shelves: Shelves, accountId: string, ids: readonly string[]) {
  const read: ReturnType<typeof oneResult>[] = [];
  const failed: { id: string; says: string }[] = [];
  const unread: string[] = [];
  let room = limits.readPageBytes;
  for (const id of new Set(ids)) {
    if (read.length + failed.length >= limits.readAtOnceMax) {
      unread.push(id);
      continue;
    }
    const opened = await attempt(() => openThing(shelves, accountId, id));
    if (!opened.ok) {
      failed.push({ id, says: explainToModel(opened.fault) });
      continue;
    }
    const bytes = Buffer.byteLength(opened.value.text ?? '');
    if (bytes > room && read.length > 0) {
      unread.push(id);
      continue;
    }
    // Pictures are shown one by one.
    const { picture: _, ...one } = oneResult(opened.value, {});
    read.push(one);
    room -= Math.min(room, bytes);
  }
  const [first, ...others] = read;
  if (first === undefined)
    throw new Refusal({ kind: 'not_found', what: failed.map(({ id, says }) => `${id}: ${says}`).join('; ') });
  const rest = [
    ...failed.map(({ id, says }) => `not read: ${id}: ${says}`),
    ...(unread.length === 0 ? [] : [`no room for these, read them next: ${JSON.stringify(unread)}`]),
  ];
  return {
    structured: {
      ...first.structured,
      more: others.map(({ structured }) => structured),
      ...(failed.length === 0 ? {} : { failed }),
      ...(unread.length === 0 ? {} : { unread }),
    },
    text: [...read.map(({ text }) => text.trimEnd()), ...rest].join('\n\n'),
  };
}

/** What a model sees of one thing. */
interface OneResult {
  readonly structured: z.input<typeof thingSchema>;
  readonly text: string;
  readonly picture?: { readonly mimeType: string; readonly data: string };
}

function oneResult(thing: OpenedThing, portion: TextPartRequest): OneResult {
  if (thing.text === undefined) return bytesResult(thing);
  const part = textPartOf(thing.text, portion, limits.readPageBytes);
  const { from, to, total, next } = part;
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
    text: `${headline(thing, linesOf(part))}${more}\n\n${part.text}`,
  };
}

function linesOf({ from, to, total, next }: TextPart): string {
  const isAll = from <= 1 && to === total && next === undefined;
  return isAll ? plural(total, 'line') : `lines ${from}-${to} of ${total}`;
}

function factsOf({ id, what, version: at, sizeBytes, changedAt, changedBy, sha256, note }: OpenedThing) {
  return {
    id,
    what,
    version: at,
    size_bytes: sizeBytes,
    changed_at: changedAt,
    changed_by: changedBy ?? null,
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(note === undefined || note === '' ? {} : { note }),
  };
}

function headline(
  { id, what, version: at, sizeBytes, changedAt, changedBy, note }: OpenedThing,
  which: string,
): string {
  const by = changedBy === undefined ? '' : ` by ${changedBy}`;
  const more = note === undefined || note === '' ? '' : `; ${note}`;
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
function bytesResult(thing: OpenedThing): OneResult {
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
