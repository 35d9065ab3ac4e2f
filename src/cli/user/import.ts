/** `cairn import PATH --from PROGRAM`: takes over tasks and notes from other programs. */
import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { filesOfFolder } from '../../client/importing/folder-files.ts';
import {
  IMPORT_SOURCES,
  type Imported,
  type ImportedFile,
  type ImportedTask,
  type ImportNotice,
  type ImportSource,
} from '../../client/importing/imported.ts';
import { notionPaths, relinked } from '../../client/importing/notion.ts';
import { type ImportResult, sendFiles, sendTasks } from '../../client/importing/send.ts';
import { readTodoist } from '../../client/importing/todoist.ts';
import { openZip } from '../../client/importing/zip.ts';
import { quoted, shownLine } from '../../client/shown.ts';
import { readAs } from '../../client/sync/remote-record.ts';
import type { ToolClient } from '../../client/tools.ts';
import { countWithNoun } from '../../text/count.ts';
import type { Options } from '../command.ts';
import { readDue } from '../dates/due-date.ts';
import { print, printError, printResult } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { openTools } from './tool-access.ts';

/** The most notices that are printed; `--json` has all. */
const NOTICES_SHOWN_MAX = 20;

const vaultSchema = z.object({ vault_id: z.string(), name: z.string() });

/** Runs `cairn import --from`. Throws UsageError for an unknown program, ClientError when the export cannot be read. */
export async function runImportFrom(options: Options): Promise<number> {
  const source = sourceOf(options.optional('from') ?? '');
  const path = resolve(options.operand() ?? '');
  const { tools } = openTools(options.optional('server'));
  if (source === 'todoist') {
    if (options.optional('vault') !== undefined) throw new UsageError('tasks have no vault: leave out --vault');
    return report(options, 'task', await readTasks(path), (tasks) => sendTasks(tools, tasks), 'list them: cairn tasks');
  }
  const files = source === 'notion' ? await notionFiles(path) : filesOfFolder(path);
  const vault = options.optional('vault') ?? basename(path).replace(/\.zip$/i, '');
  const next = `sync them to a folder: cairn sync --folder DIR --vault ${quoted(vault)}`;
  return report(options, 'file', files, async (items) => sendToVault(tools, vault, items), next);
}

function sourceOf(name: string): ImportSource {
  const source = IMPORT_SOURCES.find((one) => one === name.toLowerCase());
  if (source === undefined) throw new UsageError(`--from must be one of ${IMPORT_SOURCES.join(', ')}`);
  return source;
}

/** Reads the CSV file of one project, or a backup: a ZIP archive with one such file for each project. */
async function readTasks(path: string): Promise<Imported<ImportedTask>> {
  const readDate = (text: string): string | undefined => {
    try {
      return readDue(text, new Date());
    } catch (error) {
      if (error instanceof UsageError) return undefined;
      throw error;
    }
  };
  const isZip = path.toLowerCase().endsWith('.zip');
  const zip = isZip ? await openZip(path) : undefined;
  try {
    const projects = zip
      ? await Promise.all(
          zip.items
            .filter((file) => file.path.toLowerCase().endsWith('.csv'))
            .map(async (file) => ({ path: file.path, text: (await file.read()).toString('utf8') })),
        )
      : [{ path, text: readText(path) }];
    if (projects.length === 0) throw new ClientError(`${path} contains no CSV file of a Todoist project.`);
    const read = projects.map((project) => readTodoist(project.text, projectName(project.path), readDate));
    return {
      items: read.flatMap(({ items }) => items),
      notices: [...(zip?.notices ?? []), ...read.flatMap(({ notices }) => notices)],
    };
  } finally {
    zip?.close?.();
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ClientError(`${path} cannot be read: ${(error as Error).message}.`);
  }
}

/** Name of a project from its file: a backup adds an id in brackets. */
function projectName(path: string): string {
  return basename(path)
    .replace(/\.csv$/i, '')
    .replace(/ \[[\w-]+\]$/, '')
    .trim();
}

async function notionFiles(path: string): Promise<Imported<ImportedFile>> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return withPlainNames(filesOfFolder(path));
  return withPlainNames(await openZip(path));
}

function withPlainNames(found: Imported<ImportedFile>): Imported<ImportedFile> {
  const paths = notionPaths(found.items.map((file) => file.path));
  const items = found.items.map((file) => ({
    ...file,
    path: paths.get(file.path) ?? file.path,
    read: async () => {
      const bytes = await file.read();
      return file.path.endsWith('.md') ? Buffer.from(relinked(bytes.toString('utf8'), file.path, paths)) : bytes;
    },
  }));
  return { ...found, items };
}

async function sendToVault(tools: ToolClient, name: string, files: readonly ImportedFile[]): Promise<ImportResult> {
  const vault = readAs(vaultSchema, (await tools.call('vault_create', { name })).structured);
  return await sendFiles(tools, vault.vault_id, files);
}

async function report<T>(
  options: Options,
  noun: string,
  found: Imported<T>,
  send: (items: readonly T[]) => Promise<ImportResult>,
  next: string,
): Promise<number> {
  try {
    if (found.items.length === 0) throw new ClientError(`nothing to import: there is no ${noun} in it.`);
    if (options.flag('dry-run')) {
      printNotices(options, found.notices);
      return printResult(
        options,
        { found: found.items.length, notices: found.notices },
        () => `${countWithNoun(found.items.length, noun)} to import; nothing was written`,
      );
    }
    const sent = await send(found.items);
    const notices = [...found.notices, ...sent.notices];
    printNotices(options, notices);
    printResult(
      options,
      { ...sent, notices },
      () =>
        `imported ${countWithNoun(sent.created, noun)}${sent.unchanged === 0 ? '' : `; ${sent.unchanged.toLocaleString('en-US')} were there already`}`,
    );
    if (!options.json) print(next);
    return notices.length > found.notices.length ? 1 : 0;
  } finally {
    found.close?.();
  }
}

function printNotices(options: Options, notices: readonly ImportNotice[]): void {
  if (options.json) return;
  for (const notice of notices.slice(0, NOTICES_SHOWN_MAX)) printError(shownLine(notice));
  if (notices.length > NOTICES_SHOWN_MAX)
    printError(`and ${notices.length - NOTICES_SHOWN_MAX} more; --json lists all`);
}
