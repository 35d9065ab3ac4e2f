/** cairn docs: reads and writes the dev docs of an account from a terminal. */

import { basename } from 'node:path';
import { jsonLine } from '../../../client/shown.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import { type Command, type CommandOption, type Options, takes } from '../../command.ts';
import { print, printContent } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { edit, type Opened } from './edit.ts';
import { type KeptVersion, printVersions } from './kept-versions.ts';
import { readDocumentText } from './text-input.ts';
import { given, printAnswer, readNumber, runToolCommand, SERVER, toolsOf } from './tool-call.ts';

/** JSON-RPC codes: document not found, invalid argument. */
const NOT_FOUND = -32005;
const INVALID = -32602;

const CATEGORY = takes('category', 'NAME');
const VERSION = takes('version', 'N');
const NAMED = { category: 'name of the category; needed if several categories have the title' };
const REFERENCE: readonly CommandOption[] = [CATEGORY, SERVER];
const COMPLETES = { category: 'doc category', TITLE: 'doc' } as const;

interface ReadDoc extends Opened {
  readonly id: number;
}

export const docCommands: readonly Command[] = [
  {
    name: 'docs',
    summary: 'list dev docs: documents for agents',
    options: [CATEGORY, takes('search', 'TEXT'), takes('limit', 'N'), takes('cursor', 'CURSOR'), SERVER],
    explains: { category: 'only documents of this category' },
    completes: COMPLETES,
    examples: ['cairn docs', 'cairn docs --category claude', 'cairn docs --search release'],
    run: (options) =>
      runToolCommand(options, 'list_dev_docs', {
        ...given('category', options.optional('category')),
        ...given('search', options.optional('search')),
        ...given('limit', readNumber('limit', options.optional('limit'))),
        ...given('cursor', options.optional('cursor')),
      }),
  },
  {
    name: 'docs show',
    summary: 'print a dev doc',
    operands: ['TITLE'],
    options: [VERSION, ...REFERENCE],
    explains: { ...NAMED, version: 'a kept version instead of the current one' },
    completes: COMPLETES,
    examples: ['cairn docs show CLAUDE.md', 'cairn docs show CLAUDE.md --category claude --version 3'],
    run: show,
  },
  {
    name: 'docs put',
    summary: 'create or replace a dev doc from a file or standard input',
    operands: ['[FILE]'],
    options: [takes('title', 'TITLE'), ...REFERENCE],
    flags: ['new-category'],
    explains: {
      category: 'category of the document; default: docs',
      title: 'default: the name of the file',
      'new-category': 'create the category if it is missing',
    },
    completes: COMPLETES,
    examples: ['cairn docs put CLAUDE.md --category claude', 'git log -5 | cairn docs put --title recent.txt'],
    run: put,
  },
  {
    name: 'docs edit',
    summary: 'edit a dev doc in $EDITOR',
    operands: ['TITLE'],
    options: REFERENCE,
    explains: NAMED,
    completes: COMPLETES,
    examples: ['cairn docs edit CLAUDE.md'],
    run: async (options) => {
      const { doc } = await read(options);
      return await edit(options, doc, 'update_dev_doc', { id: doc.id });
    },
  },
  {
    name: 'docs versions',
    summary: 'list the kept versions of a dev doc',
    operands: ['TITLE'],
    options: REFERENCE,
    explains: NAMED,
    completes: COMPLETES,
    examples: ['cairn docs versions CLAUDE.md'],
    run: versions,
  },
  {
    name: 'docs move',
    summary: 'give a dev doc another title or category; its versions stay',
    operands: ['TITLE', 'TO'],
    options: REFERENCE,
    explains: NAMED,
    completes: COMPLETES,
    examples: ['cairn docs move notes.md plan.md', 'cairn docs move notes.md skills/'],
    run: async (options) => {
      const { doc } = await read(options);
      return await runToolCommand(options, 'move', { id: `cairn://docs/${doc.id}`, to: options.operands[1] });
    },
  },
  {
    name: 'docs remove',
    summary: 'move a dev doc to the trash',
    operands: ['TITLE'],
    options: REFERENCE,
    explains: NAMED,
    completes: COMPLETES,
    examples: ['cairn docs remove notes.md'],
    run: (options) => runToolCommand(options, 'delete_dev_doc', referenceOf(options)),
  },
  {
    name: 'docs restore',
    summary: 'restore a dev doc from the trash, or an earlier version of its text',
    operands: ['TITLE'],
    options: [VERSION, ...REFERENCE],
    explains: { ...NAMED, version: 'bring back this kept version; it becomes the newest' },
    completes: COMPLETES,
    examples: ['cairn docs restore notes.md', 'cairn docs restore CLAUDE.md --version 3'],
    run: restore,
  },
];

/** A dev doc by its title, or by its number as lists show it: `#7`. */
function referenceOf(options: Options): Record<string, string | number> {
  const title = options.operand() ?? '';
  if (/^#\d{1,15}$/.test(title)) return { id: Number(title.slice(1)) };
  return { title, ...given('category', options.optional('category')) };
}

async function read(options: Options, more: Readonly<Record<string, unknown>> = {}) {
  const { structured } = await toolsOf(options).call('get_dev_doc', { ...referenceOf(options), ...more });
  return structured as { readonly doc: ReadDoc; readonly versions?: readonly KeptVersion[] };
}

/** Prints only the content, for piping. */
async function show(options: Options): Promise<number> {
  const found = await read(options, given('version', readNumber('version', options.optional('version'))));
  if (options.json) print(jsonLine(found));
  else printContent(found.doc.content);
  return 0;
}

async function versions(options: Options): Promise<number> {
  const { doc, versions: kept = [] } = await read(options, { include_versions: true });
  printVersions(options, kept, { id: doc.id });
  return 0;
}

/** From the trash; with --version, the text of that version as a new one. */
async function restore(options: Options): Promise<number> {
  const version = readNumber('version', options.optional('version'));
  if (version === undefined)
    return await runToolCommand(options, 'update_dev_doc', { ...referenceOf(options), restore: true });
  const { doc } = await read(options, { version });
  return await runToolCommand(options, 'update_dev_doc', { id: doc.id, content: doc.content });
}

async function put(options: Options): Promise<number> {
  const file = options.operand();
  const title = options.optional('title') ?? (file === undefined || file === '-' ? undefined : basename(file));
  if (title === undefined) throw new UsageError('--title is required with standard input');
  const content = await readDocumentText(file);
  const tools = toolsOf(options);
  const doc = { title, content, ...given('category', options.optional('category')) };
  try {
    printAnswer(options, await tools.call('update_dev_doc', doc));
  } catch (error) {
    if (!isMissing(error, 'category' in doc)) throw error;
    const create_category = options.flag('new-category');
    printAnswer(options, await tools.call('create_dev_doc', { ...doc, create_category }));
  }
  return 0;
}

/** True when the document or its category does not exist yet. */
function isMissing(error: unknown, hasCategory: boolean): boolean {
  if (!(error instanceof ToolRefused)) return false;
  return error.code === NOT_FOUND || (hasCategory && error.code === INVALID && error.data['field'] === 'category');
}
