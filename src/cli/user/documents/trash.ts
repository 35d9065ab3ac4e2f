/** cairn trash: lists what was deleted, each with the command that brings it back. */
import { z } from 'zod';
import { pathWord } from '../../../client/next-command.ts';
import { quoted, shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { limits } from '../../../limits/service.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { aligned, printResult } from '../../output.ts';
import { given, readNumber, SERVER, toolsOf } from './tool-call.ts';

export const trashCommand: Command = {
  name: 'trash',
  summary: 'list deleted tasks, documents and files, each with the command that brings it back',
  options: [takes('limit', 'N'), SERVER],
  explains: { limit: `how many to list at most; default ${limits.listItemsDefault}` },
  examples: ['cairn trash', 'cairn trash --limit 500'],
  run: list,
};

const pageSchema = z.object({
  items: z.array(z.object({ id: z.string(), about: z.string() })),
  cursor: z.string().nullable(),
});
const vaultsSchema = z.object({
  vaults: z.array(z.object({ vault_id: z.string(), name: z.string(), is_primary: z.boolean() })),
});

async function list(options: Options): Promise<number> {
  const tools = toolsOf(options);
  const limit = given('limit', readNumber('limit', options.optional('limit')));
  const { items, cursor } = readAs(pageSchema, (await tools.call('list', { in: 'trash', ...limit })).structured);
  const { vaults } = readAs(vaultsSchema, (await tools.call('vault_list', {})).structured);
  const names = new Map(vaults.map(({ vault_id: id, name }) => [id, name]));
  // A path alone is of the primary vault.
  names.set('', vaults.find((one) => one.is_primary)?.name ?? '');
  const rows = items.map(({ id, about }) => ({ id, about, restore: commandOf(id, names) }));
  return printResult(options, { items: rows, has_more: cursor !== null }, () =>
    items.length === 0
      ? 'Nothing was deleted that can be brought back. Versions of a file: `cairn sync history FILE`.'
      : [
          ...aligned(rows.map(({ restore, about }) => [restore, shownLine(about)])).map((cells) =>
            cells.join('  ').trimEnd(),
          ),
          ...(cursor === null ? [] : ['There are more: list them with --limit.']),
        ].join('\n'),
  );
}

/** What to type to bring a thing back, by its id as the trash lists it. Pure. */
function commandOf(id: string, vaults: ReadonlyMap<string, string>): string {
  const [, kind, first = '', rest] = /^cairn:\/\/(\w+)\/([^/]*)(?:\/(.*))?$/s.exec(id) ?? [];
  if (kind === 'tasks' || kind === 'papers') return `cairn ${kind} restore ${first}`;
  if (kind === 'docs' && rest !== undefined)
    return `cairn docs restore ${quoted(decodeURIComponent(rest))} --category ${quoted(decodeURIComponent(first))}`;
  if (kind === 'vaults' && rest !== undefined) return restoreFile(decodeURIComponent(rest), vaults.get(first) ?? first);
  const [, category] = /^category (\d+)$/.exec(id) ?? [];
  if (category !== undefined) return `cairn call update_category --id=${category} --restore=true`;
  return restoreFile(id, vaults.get('') ?? '');
}

const restoreFile = (path: string, vault: string) => `cairn sync restore ${pathWord(path)} --vault ${quoted(vault)}`;
