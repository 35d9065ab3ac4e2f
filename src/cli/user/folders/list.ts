/** cairn sync add, folders, remove: the list of the folders that one watch keeps in sync. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { readClientSettings } from '../../../client/settings.ts';
import { quoted, shownLine } from '../../../client/shown.ts';
import { askWatch } from '../../../client/sync/watch/ask-watch.ts';
import { addToList, knownFolders, type ListedFolder, removeFromList } from '../../../client/sync/watch/folder-list.ts';
import { stateOf } from '../../../client/sync/watch/standing.ts';
import { type Command, type Options, repeats, takes } from '../../command.ts';
import { printResult, table } from '../../output.ts';
import { openReplica } from '../sync-open.ts';

export const syncListCommands: readonly Command[] = [
  {
    name: 'sync add',
    summary: 'list a folder for `cairn sync watch --all`, which a running one notices at once',
    operands: ['[DIR]'],
    options: [
      takes('vault', 'NAME'),
      takes('server', 'URL'),
      repeats('only', 'PATTERN'),
      takes('limit-upload', 'RATE'),
      takes('limit-download', 'RATE'),
    ],
    flags: ['create'],
    completes: { vault: 'vault' },
    instead: { folder: 'name the folder as `cairn sync add DIR`' },
    explains: {
      vault: 'vault to sync it with, created if there is none; default: the one it belongs to, else the primary vault',
      server: 'address of the hub; default: the one it belongs to, else CAIRN_SERVER, else the last sign-in',
      only: "sync only what matches on this device, e.g. notes/ or '*.md'",
      'limit-upload': 'upload at most this many bytes per second, such as 500K or 2M',
      'limit-download': 'download at most this many bytes per second, such as 500K or 2M',
      create: 'create the vault without asking, even if its name is close to that of another one',
    },
    examples: ['cairn sync add ~/notes --vault notes', 'cairn sync add ~/work --vault work --only docs/'],
    run: add,
  },
  {
    name: 'sync folders',
    summary: 'show the folders that `cairn sync watch --all` syncs, and how each one stands',
    examples: ['cairn sync folders'],
    run: folders,
  },
  {
    name: 'sync remove',
    summary: 'take a folder off the list of `cairn sync watch --all`; its files and its vault stay',
    operands: ['[DIR]'],
    instead: { folder: 'name the folder as `cairn sync remove DIR`' },
    examples: ['cairn sync remove ~/notes'],
    run: remove,
  },
];

async function add(options: Options): Promise<number> {
  const only = options.many('only');
  const [limitUpload, limitDownload] = [options.optional('limit-upload'), options.optional('limit-download')];
  const { replica } = await openReplica({
    makes: 'sync',
    folder: options.operand() ?? '.',
    vault: options.optional('vault'),
    server: options.optional('server'),
    create: options.flag('create'),
    only,
    limitUpload,
    limitDownload,
  });
  const { state, folder } = replica;
  const entry: ListedFolder = {
    folder: folder.root.path,
    ...given('vault', options.optional('vault') ?? state.vault_name),
    // The watch of a service has no CAIRN_SERVER, and another sign-in may be the last one by then.
    server: state.server,
    ...(only.length === 0 ? {} : { only: [...only] }),
    ...given('limit_upload', limitUpload),
    ...given('limit_download', limitDownload),
  };
  const isNew = await addToList(readClientSettings().syncFile, entry);
  const next =
    'A running `cairn sync watch --all` syncs it from now on. To run one always: `cairn sync service install`.';
  return printResult(
    options,
    { ...entry, is_new: isNew },
    () => `${isNew ? 'added' : 'changed'} ${shownLine(entry.folder)}\n${next}`,
  );
}

const given = <K extends string>(name: K, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<K, string>>;

async function folders(options: Options): Promise<number> {
  const listed = knownFolders(readClientSettings().syncFile) ?? [];
  const standings = await Promise.all(
    listed.map(async (one) => {
      const standing = await askWatch(one.folder);
      return { ...one, state: standing === undefined ? 'no watch' : stateOf(standing) };
    }),
  );
  return printResult(options, { folders: standings }, () =>
    standings.length === 0
      ? 'no folders yet; `cairn sync add DIR --vault NAME` adds one'
      : table(standings.map((one): [string, string] => [shownLine(one.folder), factsOf(one)])),
  );
}

function factsOf({ vault, server, only = [], state, ...paces }: ListedFolder & { readonly state: string }): string {
  const { limit_upload: up, limit_download: down } = paces;
  return [
    state,
    `vault ${vault === undefined ? 'that it belongs to' : shownLine(vault)}`,
    ...(server === undefined ? [] : [`on ${shownLine(server)}`]),
    ...(only.length === 0 ? [] : [`only ${only.map((pattern) => shownLine(quoted(pattern))).join(' ')}`]),
    ...(up === undefined ? [] : [`up ${shownLine(up)}`]),
    ...(down === undefined ? [] : [`down ${shownLine(down)}`]),
  ].join(', ');
}

async function remove(options: Options): Promise<number> {
  const file = readClientSettings().syncFile;
  const named = resolve(options.operand() ?? '.');
  for (const folder of new Set([named, realPathOf(named)])) {
    if (!(await removeFromList(file, folder))) continue;
    return printResult(
      options,
      { folder, removed: true },
      () => `removed ${shownLine(folder)} from the list; its files and its vault stay`,
    );
  }
  throw new ClientError(`${named} is not in the list; \`cairn sync folders\` shows it.`);
}

/** Without links, as `sync add` lists it; a folder that is gone keeps its name. */
function realPathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
