/** Declares the tools for dev docs. */
import { z } from 'zod';
import type { CallerName } from '../../common/principal.ts';
import { notesOf } from '../../fields/record.ts';
import { recordsText } from '../../gateway/records-text.ts';
import { ADDS, DESTROYS, defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { headed, plural, withContent } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { docVersion } from '../texts.ts';
import { asOfVersion, keptVersion, versionLines, versionView } from '../views.ts';
import { type DevDocRecord, declaredDoc, otherDocInputs } from './declared.ts';
import { devDocChange, docReference, newDevDoc } from './fields.ts';
import type { DocList } from './list.ts';
import { deletedDocSchema } from './pull.ts';
import type { DevDocs } from './service.ts';
import { docUri } from './uri.ts';

const { category, content_type } = declaredDoc.inputs;
const cursor = z.string().min(1).max(limits.cursorCharsMax).optional();
const onlyCategory = category.optional().describe('See list_dev_categories');

const docSchema = declaredDoc.shown;
const docView = declaredDoc.show;

/** A document in a pull. */
const pulledDocSchema = docSchema.extend({ type: z.literal('doc'), content: z.string() });

/** Returns every tool of this capability. */
export function devDocTools(docs: DevDocs, callerName: CallerName): Tool[] {
  return [
    createDevDoc(docs, callerName),
    listDevDocs(docs),
    getDevDoc(docs),
    updateDevDoc(docs, callerName),
    pullDevDocs(docs),
    deleteDevDoc(docs, callerName),
    listDevCategories(docs),
  ];
}

function listDevDocs(docs: DevDocs): Tool {
  return defineTool({
    name: 'list_dev_docs',
    title: 'List or search dev docs',
    access: 'account',
    description: 'Lists dev docs without content, newest first.',
    input: z.strictObject({
      category: onlyCategory,
      search: z
        .string()
        .min(1)
        .max(limits.devDocSearchCharsMax)
        .optional()
        .describe('Text in title or content, in any case'),
      content_type: content_type.optional(),
      limit: z.int().min(1).max(limits.devDocListMax).optional().describe(`Default ${limits.devDocListDefault}`),
      cursor: cursor.describe('From an earlier answer'),
    }),
    output: z.object({
      docs: z.array(docSchema),
      count: z.int().nonnegative().describe('Documents in this answer'),
      has_more: z.boolean().describe('True: call again with the cursor'),
      cursor: z.string().nullable(),
      complete: z.boolean().describe('False: the search stopped early, having read enough; call again with the cursor'),
      looked_at: z.int().nonnegative().describe('Documents searched for this answer'),
    }),
    annotations: READS,
    example: { category: 'claude', search: 'rules', limit: 10 },
    async handle(args, { accountId }) {
      const found = await docs.list(accountId, args);
      const structured = {
        docs: found.docs.map(docView),
        count: found.docs.length,
        has_more: found.cursor !== undefined,
        cursor: found.cursor ?? null,
        complete: found.complete,
        looked_at: found.looked,
      };
      return { structured, text: headed(listHeadline(found), found.docs, line) };
    },
  });
}

function getDevDoc(docs: DevDocs): Tool {
  return defineTool({
    name: 'get_dev_doc',
    title: 'Read a dev doc',
    access: 'account',
    description: `Reads a dev doc by id or title. The last ${limits.documentVersionsMax} versions are kept.`,
    input: z.strictObject({
      ...docReference,
      include_versions: z.boolean().optional().describe('Also list kept versions'),
      version: docVersion.describe('Default: current'),
    }),
    output: z.object({
      doc: docSchema
        .extend({ content: z.string() })
        .describe('Version, size, updated_at and changed_by are those of the content'),
      current_version: z.int().positive(),
      versions: z.array(keptVersion).optional().describe('Newest first'),
    }),
    annotations: READS,
    example: { title: 'CLAUDE.md', category: 'claude', include_versions: true },
    handle({ include_versions: withVersions, ...request }, { accountId }) {
      const { record: doc, shown, content: text } = docs.get(accountId, request);
      const { version: number } = shown;
      const versions = withVersions === true ? docs.versions(accountId, doc).map(versionView) : undefined;
      const structured = {
        doc: { ...asOfVersion(docView(doc), shown), content: text },
        current_version: doc.version,
        ...(versions && { versions }),
      };
      const of = number === doc.version ? '' : ` (now ${doc.version})`;
      const kept = versions === undefined ? '' : versionLines(versions);
      const uri = number === doc.version ? docUri(doc) : undefined;
      return {
        structured,
        text: withContent(`${nameOf(doc)}, ${doc.content_type}, version ${number}${of}:${kept}`, text, uri),
      };
    },
  });
}

function createDevDoc(docs: DevDocs, callerName: CallerName): Tool {
  return defineTool({
    name: 'create_dev_doc',
    title: 'Create a dev doc',
    access: 'account',
    description: 'Creates a document for agents: CLAUDE.md, a rule, a skill, a note.',
    input: newDevDoc,
    output: z.object({ doc: docSchema }),
    annotations: ADDS,
    example: { title: 'CLAUDE.md', content: '# House rules\n\nSmall commits.\n', category: 'claude' },
    async handle(args, principal) {
      const doc = await docs.create(principal.accountId, args, callerName(principal));
      return { structured: { doc: docView(doc) }, text: `created ${line(doc)}` };
    },
  });
}

function updateDevDoc(docs: DevDocs, callerName: CallerName): Tool {
  return defineTool({
    name: 'update_dev_doc',
    title: 'Change a dev doc',
    access: 'account',
    description: 'Replaces the content of a dev doc, adds to it, or renames it. restore brings it back from the trash.',
    input: devDocChange,
    output: z.object({ doc: docSchema }),
    annotations: ADDS,
    example: { title: 'CLAUDE.md', content: '\nTests first.\n', mode: 'append', expected_version: 1 },
    async handle(args, principal) {
      const doc = await docs.update(principal.accountId, args, callerName(principal));
      return {
        structured: { doc: docView(doc) },
        text: `${nameOf(doc)} is now at version ${doc.version}${kept(doc, args.content)}`,
      };
    },
  });
}

/** Tells how to read what a change replaced, which may be the work of another agent. */
function kept({ version: current }: DevDocRecord, content: string | undefined): string {
  return content === undefined || current === 1
    ? ''
    : `; get_dev_doc with version: ${current - 1} returns the previous text`;
}

function pullDevDocs(docs: DevDocs): Tool {
  return defineTool({
    name: 'pull_dev_docs',
    title: 'Read all or changed dev docs',
    access: 'account',
    description: 'Reads dev docs with content, all or those changed since. Large results are NDJSON.',
    input: z.strictObject({
      category: onlyCategory,
      since: z.string().min(1).max(limits.instantCharsMax).optional().describe('ISO 8601'),
      cursor: cursor.describe('From an earlier pull: only later changes'),
    }),
    output: z.object({
      docs: z.array(pulledDocSchema),
      deleted: z.array(deletedDocSchema).describe('Documents deleted since, or moved out of the category'),
      total_count: z.int().nonnegative().describe('Records in this answer, deleted ones too'),
      total_size_bytes: z.int().nonnegative().describe('Of the contents in this answer'),
      cursor: z.string().describe('For the next pull'),
      has_more: z.boolean().describe('True: pull again with the cursor now'),
    }),
    annotations: READS,
    lists: true,
    example: { category: 'claude' },
    handle(args, { accountId }, { lines }) {
      const found = docs.pull(accountId, args);
      const { docCount, deletedCount, movedCount, sizeBytes, hasMore } = found;
      const more = hasMore ? '; there are more, pull again with the cursor' : '';
      const deletions = deletedCount - movedCount;
      const gone = `${deletions === 0 ? '' : `, ${deletions} deleted`}${movedCount === 0 ? '' : `, ${movedCount} moved away`}`;
      const headline = `${plural(docCount, 'dev doc')} with ${plural(sizeBytes, 'byte')}${gone}; cursor ${found.cursor}${more}`;
      return {
        structured: { cursor: found.cursor, has_more: hasMore },
        text: () => recordsText(headline, found.all, lines, pulledText),
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

function deleteDevDoc(docs: DevDocs, callerName: CallerName): Tool {
  return defineTool({
    name: 'delete_dev_doc',
    title: 'Move a dev doc to the trash',
    access: 'account',
    description: `Moves a dev doc to the trash. update_dev_doc with restore brings it back for ${limits.binDays} days.`,
    input: z.strictObject(docReference),
    output: z.object({
      id: z.int().positive(),
      deleted_at: z.string().describe('Time of deletion, ISO 8601 UTC'),
    }),
    annotations: DESTROYS,
    example: { title: 'CLAUDE.md' },
    async handle(args, principal) {
      const doc = await docs.remove(principal.accountId, args, callerName(principal));
      const back = `update_dev_doc with id: ${doc.id} and restore: true brings it back within ${limits.binDays} days`;
      return {
        structured: { id: doc.id, deleted_at: doc.deleted_at ?? '' },
        text: `${nameOf(doc)} is in the trash; ${back}`,
      };
    },
  });
}

function listDevCategories(docs: DevDocs): Tool {
  return defineTool({
    name: 'list_dev_categories',
    title: 'List dev doc categories',
    access: 'account',
    description: 'Lists the categories of dev docs, with document counts.',
    input: z.strictObject({}),
    output: z.object({
      categories: z.array(
        z.object({
          name: z.string(),
          doc_count: z.int().nonnegative().describe('Documents in it, without the trash'),
          built_in: z.boolean().describe('False: your own, removed with its last document'),
        }),
      ),
    }),
    annotations: READS,
    example: {},
    handle(_args, { accountId }) {
      const found = docs.categories(accountId);
      const categories = found.map(({ name, docs: count, builtIn }) => ({ name, doc_count: count, built_in: builtIn }));
      const headline = plural(found.length, 'category', 'categories');
      return { structured: { categories }, text: headed(headline, found, ({ name, docs: n }) => `${name} (${n})`) };
    },
  });
}

function listHeadline({ docs, cursor: next, complete, looked }: DocList): string {
  const found = plural(docs.length, 'dev doc');
  if (next === undefined) return found;
  const why = complete ? 'there may be more' : `looked at ${looked}`;
  return `${found} (${why}; continue with cursor ${JSON.stringify(next)})`;
}

function line(doc: DevDocRecord): string {
  const { content_type: type, version, size_bytes: bytes, updated_at: at } = doc;
  const notes = [type, `version ${version}`, plural(bytes, 'byte'), ...notesOf(otherDocInputs, doc), at];
  return `${nameOf(doc)} (${notes.join(', ')})`;
}

/** Formats a line of a pull: a document with its content, or a deleted document. */
function pulledText(record: z.infer<typeof pulledDocSchema> | z.infer<typeof deletedDocSchema>): string {
  const name = nameOf(record);
  if (record.type === 'deleted') {
    const { moved_to: to, deleted_at: at } = record;
    return to === undefined ? `${name} was deleted at ${at}` : `${name} moved to ${to} at ${at}`;
  }
  return `--- ${name}, ${record.content_type}, version ${record.version}, ${record.size_bytes} bytes:\n${record.content}`;
}

function nameOf({ id, category: of, title: name }: Pick<DevDocRecord, 'id' | 'category' | 'title'>): string {
  return `#${id} ${of}/${name}`;
}
