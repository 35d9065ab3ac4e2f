/** Declares the tools for papers. */
import { z } from 'zod';
import type { CallerName } from '../../common/principal.ts';
import { idFrom } from '../../fields/kinds.ts';
import { notesOf } from '../../fields/record.ts';
import { ADDS, DESTROYS, defineTool, READS, SETS, type Tool } from '../../gateway/tool.ts';
import { headed, plural, withContent } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { docVersion } from '../texts.ts';
import { asOfVersion } from '../views.ts';
import { otherPaperInputs } from './declared.ts';
import { newPaper, pageQuery, paperChange } from './fields.ts';
import { paperUri } from './resources.ts';
import type { Papers, ShownPaper } from './service.ts';
import { factsOf, listedPaper, paperSchema, paperView, paperWithContent } from './views.ts';

const onePaper = z.object({ paper: paperSchema });
const paperId = idFrom('list_papers');
const named = z.strictObject({ id: paperId });

const changeArguments = z.strictObject({ id: paperId, ...paperChange.shape });

/** Returns every tool of this capability. */
export function paperTools(papers: Papers, nameOf: CallerName): Tool[] {
  return [
    createPaper(papers, nameOf),
    listPapers(papers),
    getPaper(papers),
    updatePaper(papers, nameOf),
    publishPaper(papers, nameOf),
    deletePaper(papers, nameOf),
  ];
}

function listPapers(papers: Papers): Tool {
  return defineTool({
    name: 'list_papers',
    title: 'List papers',
    access: 'account',
    description: 'Lists papers (Markdown articles), newest first.',
    input: pageQuery,
    output: z.object({
      papers: z.array(listedPaper),
      count: z.int().nonnegative().describe('Papers in this answer'),
      has_more: z.boolean().describe('True: call again with the cursor'),
      cursor: z.string().nullable(),
    }),
    annotations: READS,
    example: { published: false, limit: 10 },
    handle(args, { accountId }) {
      papers.checkCategory(accountId, args);
      const { papers: found, cursor } = papers.list(accountId, args);
      const more = cursor === undefined ? '' : ` (there are more; continue with cursor ${JSON.stringify(cursor)})`;
      const structured = {
        papers: found.map(paperView),
        count: found.length,
        has_more: cursor !== undefined,
        cursor: cursor ?? null,
      };
      return { structured, text: headed(`${plural(found.length, 'paper')}${more}`, found, entry) };
    },
  });
}

function getPaper(papers: Papers): Tool {
  return defineTool({
    name: 'get_paper',
    title: 'Read a paper',
    access: 'account',
    description: `Reads a paper. The last ${limits.documentVersionsMax} versions are kept.`,
    input: z.strictObject({ id: paperId, version: docVersion.describe('Default: current') }),
    output: z.object({ paper: paperWithContent }),
    annotations: READS,
    example: { id: 1 },
    handle({ id, version }, { accountId }) {
      const { record: paper, shown, content } = papers.openById(accountId, id, version);
      const view = factsOf({ paper, content: undefined });
      const isCurrent = shown.version === paper.version;
      const of = isCurrent ? '' : `, version ${shown.version} (now ${paper.version})`;
      return {
        structured: { paper: { ...(isCurrent ? view : asOfVersion(view, shown)), content } },
        text: withContent(`${line({ paper, content })}${of}:`, content, isCurrent ? paperUri(id) : undefined),
      };
    },
  });
}

function createPaper(papers: Papers, nameOf: CallerName): Tool {
  return defineTool({
    name: 'create_paper',
    title: 'Create a paper',
    access: 'account',
    description: 'Creates a paper, as a draft unless published.',
    input: newPaper,
    output: onePaper,
    annotations: ADDS,
    example: { title: 'On cairns', content: '# On cairns\n\nThey mark the way.\n' },
    read: (given, accountId) => papers.read(accountId, newPaper, given, 'arguments'),
    async handle(args, principal) {
      const made = await papers.create(principal.accountId, args, nameOf(principal));
      return { structured: { paper: factsOf(made) }, text: `created ${line(made)}` };
    },
  });
}

function updatePaper(papers: Papers, nameOf: CallerName): Tool {
  return defineTool({
    name: 'update_paper',
    title: 'Change a paper',
    access: 'account',
    description: 'Updates the given fields of a paper. restore brings it back from the trash.',
    input: changeArguments,
    output: onePaper,
    annotations: SETS,
    example: { id: 1, content: '# On cairns\n\nThey mark the way.\n', expected_version: 1 },
    read: (given, accountId) => papers.read(accountId, changeArguments, given, 'arguments'),
    async handle({ id, ...fields }, principal) {
      const changed = await papers.patch(principal.accountId, id, fields, nameOf(principal));
      const { version } = changed.paper;
      const isReplaced = fields.content !== undefined && version > 1;
      const kept = isReplaced ? `; get_paper with id: ${id} and version: ${version - 1} returns the previous text` : '';
      return { structured: { paper: factsOf(changed) }, text: `paper is now ${line(changed)}${kept}` };
    },
  });
}

function publishPaper(papers: Papers, nameOf: CallerName): Tool {
  return defineTool({
    name: 'publish_paper',
    title: 'Publish a paper',
    access: 'account',
    description: 'Publishes a paper, or turns it back into a draft.',
    input: z.strictObject({ id: paperId, published: z.boolean().optional().describe('Default true') }),
    output: onePaper,
    annotations: SETS,
    example: { id: 1 },
    async handle({ id, published = true }, principal) {
      const changed = await papers.patch(principal.accountId, id, { published }, nameOf(principal));
      return { structured: { paper: factsOf(changed) }, text: `paper is now ${line(changed)}` };
    },
  });
}

function deletePaper(papers: Papers, nameOf: CallerName): Tool {
  return defineTool({
    name: 'delete_paper',
    title: 'Move a paper to the trash',
    access: 'account',
    description: `Moves a paper to the trash. update_paper with restore brings it back for ${limits.binDays} days.`,
    input: named,
    output: z.object({
      id: z.int().positive(),
      deleted_at: z.string().describe('Time of deletion, ISO 8601 UTC'),
    }),
    annotations: DESTROYS,
    example: { id: 1 },
    async handle({ id }, principal) {
      const deletedAt = await papers.remove(principal.accountId, id, nameOf(principal));
      const back = `update_paper with id: ${id} and restore: true brings it back within ${limits.binDays} days`;
      return { structured: { id, deleted_at: deletedAt }, text: `paper #${id} is in the trash; ${back}` };
    },
  });
}

/** Formats a paper in a list: on one line, or above its content. */
function entry(shown: ShownPaper): string {
  return shown.content === undefined ? line(shown) : `--- ${line(shown)}:\n${shown.content}`;
}

function line({ paper }: ShownPaper): string {
  const { id, title, published, version, size_bytes, category_id } = paper;
  const notes = [
    published ? 'published' : 'draft',
    `version ${version}`,
    plural(size_bytes, 'byte'),
    ...(category_id === null ? [] : [`category ${category_id}`]),
    ...notesOf(otherPaperInputs, paper),
  ];
  return `#${id} ${title} (${notes.join(', ')})`;
}
