/** cairn papers: reads and writes the papers of an account from a terminal. */

import { basename, extname } from 'node:path';
import { z } from 'zod';
import { jsonLine, shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { limits } from '../../../limits/service.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { print, printContent, printResult } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { categoryIdOf } from './category.ts';
import { edit, type Opened } from './edit.ts';
import { readDocumentText } from './text-input.ts';
import { changesOf, given, readNumber, runForEach, runToolCommand, SERVER, toolsOf } from './tool-call.ts';

const CATEGORY = takes('category', 'NAME');
const NUMBERED = { category: 'name or number of the category' };
const RESTORES = 'restore a paper from the trash, or an earlier version of its text';
const change = changesOf(3);

export const paperCommands: readonly Command[] = [
  {
    name: 'papers',
    summary: 'list papers',
    options: [CATEGORY, takes('limit', 'N'), takes('cursor', 'CURSOR'), SERVER],
    flags: ['published', 'drafts'],
    completes: { category: 'category' },
    explains: { ...NUMBERED, published: 'only published papers', drafts: 'only unpublished papers' },
    examples: ['cairn papers', 'cairn papers --drafts'],
    run: list,
  },
  {
    name: 'papers show',
    summary: 'print a paper',
    operands: ['ID'],
    options: [takes('version', 'N'), SERVER],
    completes: { ID: 'paper' },
    explains: { version: 'a kept version instead of the current one' },
    examples: ['cairn papers show 3', 'cairn papers show 3 --version 2'],
    run: show,
  },
  {
    name: 'papers put',
    summary: 'create a paper from a file or standard input; with --id, replace its text',
    operands: ['[FILE]'],
    options: [takes('id', 'ID'), takes('title', 'TITLE'), CATEGORY, SERVER],
    completes: { id: 'paper', category: 'category' },
    explains: {
      ...NUMBERED,
      id: 'replace this paper; without it a new one is created',
      title: 'default: the name of the file without its ending',
    },
    examples: ['cairn papers put cairns.md --title "On cairns"', 'cairn papers put cairns.md --id 3'],
    run: put,
  },
  {
    name: 'papers edit',
    summary: 'edit a paper in $EDITOR',
    operands: ['ID'],
    options: [SERVER],
    completes: { ID: 'paper' },
    examples: ['cairn papers edit 3'],
    run: async (options) => {
      const { paper } = await read(options);
      return await edit(options, { ...paper, title: `${paper.title}.md` }, 'update_paper', { id: paper.id });
    },
  },
  {
    name: 'papers versions',
    summary: 'list the kept versions of a paper',
    operands: ['ID'],
    options: [SERVER],
    completes: { ID: 'paper' },
    examples: ['cairn papers versions 3'],
    run: versions,
  },
  change('papers publish', 'publish a paper', 'publish_paper', { published: true }, 'paper'),
  change('papers unpublish', 'turn a paper back into a draft', 'publish_paper', { published: false }, 'paper'),
  change('papers remove', 'move a paper to the trash', 'delete_paper', {}, 'paper'),
  {
    ...change('papers restore', RESTORES, 'update_paper', { restore: true }),
    options: [takes('version', 'N'), SERVER],
    explains: { version: 'bring back this kept version; it becomes the newest' },
    examples: ['cairn papers restore 3', 'cairn papers restore 3 --version 2'],
    run: restore,
  },
];

async function list(options: Options): Promise<number> {
  const [published, drafts] = [options.flag('published'), options.flag('drafts')];
  if (published && drafts) throw new UsageError('use --published or --drafts, not both');
  return await runToolCommand(options, 'list_papers', {
    ...(published || drafts ? { published } : {}),
    ...given('category_id', await categoryIdOf(toolsOf(options), options.optional('category'))),
    ...given('limit', readNumber('limit', options.optional('limit'))),
    ...given('cursor', options.optional('cursor')),
  });
}

/** Prints only the content, for piping. */
async function show(options: Options): Promise<number> {
  const found = await read(options, given('version', readNumber('version', options.optional('version'))));
  if (options.json) print(jsonLine(found));
  else printContent(found.paper.content);
  return 0;
}

const versionsSchema = z.object({ versions: z.array(z.object({ version: z.number(), about: z.string() })) });

async function versions(options: Options): Promise<number> {
  const id = readNumber('ID', options.operand());
  const { structured } = await toolsOf(options).call('history', {
    id: `cairn://papers/${id}`,
    limit: limits.documentVersionsMax,
  });
  const { versions: kept } = readAs(versionsSchema, structured);
  return printResult(options, { id, versions: kept }, () =>
    kept.map(({ version, about }) => `${version}  ${shownLine(about)}`).join('\n'),
  );
}

async function put(options: Options): Promise<number> {
  const file = options.operand();
  const id = readNumber('id', options.optional('id'));
  const title = options.optional('title') ?? (id === undefined ? titleOf(file) : undefined);
  const fields = {
    ...given('title', title),
    content: await readDocumentText(file),
    ...given('category_id', await categoryIdOf(toolsOf(options), options.optional('category'))),
  };
  if (id !== undefined) return await runToolCommand(options, 'update_paper', { id, ...fields });
  return await runToolCommand(options, 'create_paper', fields);
}

/** From the trash; with --version, the text of that version as a new one. */
async function restore(options: Options): Promise<number> {
  const version = readNumber('version', options.optional('version'));
  if (version === undefined) return await runForEach(options, 'update_paper', { restore: true });
  if (options.operands.length > 1) throw new UsageError('--version is for one paper; name one ID');
  const { paper } = await read(options, { version });
  return await runToolCommand(options, 'update_paper', { id: paper.id, content: paper.content });
}

function titleOf(file: string | undefined): string {
  if (file === undefined || file === '-') throw new UsageError('--title is required with standard input');
  return basename(file, extname(file));
}

async function read(options: Options, more: Readonly<Record<string, unknown>> = {}) {
  const id = readNumber('ID', options.operand());
  const { structured } = await toolsOf(options).call('get_paper', { id, ...more });
  return structured as { readonly paper: Opened & { readonly id: number } };
}
