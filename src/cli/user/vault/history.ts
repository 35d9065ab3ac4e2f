/** Commands that read a vault: its files, its recent changes, the versions of a file, and diffs against them. */

import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { pathWord, sideName } from '../../../client/next-command.ts';
import { formatBytes } from '../../../client/progress.ts';
import { jsonLine, shownLine, shownTime } from '../../../client/shown.ts';
import { type Content, isLarge, lookAt, Unreadable } from '../../../client/sync/folder/file.ts';
import { SyncedFolder } from '../../../client/sync/folder/folder.ts';
import { checkFolderPath, isBad } from '../../../client/sync/folder/path.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { encodedContent } from '../../../client/sync/run/arguments.ts';
import {
  type FileVersion,
  fileVersionsOf,
  listFiles,
  type NotChosenSide,
  notChosenSidesOf,
} from '../../../client/sync/vault-files.ts';
import { limits } from '../../../limits/service.ts';
import { countWithNoun } from '../../../text/count.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { print, printResult, table } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import {
  noFile,
  notOnHub,
  onFile,
  openPlace,
  PLACE_COMPLETES,
  PLACE_EXPLAINS,
  PLACE_OPTIONS,
  type VaultPlace,
} from './place.ts';

const LIMIT = takes('limit', 'N');
const ROWS_DEFAULT = 30;

const diffSchema = z.object({ status: z.string(), diff: z.string().nullable() });

export const syncHistoryCommands: readonly Command[] = [
  {
    name: 'sync list',
    summary: 'list the files on the hub, or those whose path begins with PREFIX',
    operands: ['[PREFIX]'],
    options: PLACE_OPTIONS,
    completes: PLACE_COMPLETES,
    flags: ['deleted'],
    explains: { ...PLACE_EXPLAINS, deleted: 'list deleted files as well; restore them with `cairn sync restore`' },
    examples: ['cairn sync list', 'cairn sync list notes/ --vault notes'],
    run: list,
  },
  {
    name: 'sync log',
    summary: 'show which files changed last on the hub, newest first',
    options: [...PLACE_OPTIONS, LIMIT],
    completes: PLACE_COMPLETES,
    explains: { ...PLACE_EXPLAINS, limit: `files to show; default ${ROWS_DEFAULT}` },
    examples: ['cairn sync log --limit 10'],
    run: log,
  },
  {
    name: 'sync history',
    summary: 'list the versions of a file, newest first, also under earlier names, and sides of conflicts not chosen',
    operands: ['FILE'],
    options: [...PLACE_OPTIONS, LIMIT],
    completes: PLACE_COMPLETES,
    explains: { ...PLACE_EXPLAINS, limit: `versions to show; default ${ROWS_DEFAULT}` },
    examples: ['cairn sync history notes/today.md'],
    run: history,
  },
  {
    name: 'sync diff',
    summary: 'show how a file here differs from the one on the hub',
    operands: ['FILE'],
    options: PLACE_OPTIONS,
    completes: PLACE_COMPLETES,
    explains: PLACE_EXPLAINS,
    examples: ['cairn sync diff notes/today.md'],
    run: diff,
  },
];

async function list(options: Options): Promise<number> {
  const { hub, below } = await openPlace(options);
  const prefix = options.operand() ?? (below === '' ? undefined : `${below}/`);
  const files = await listFiles(hub, {
    ...(prefix === undefined ? {} : { prefix }),
    include_deleted: options.flag('deleted'),
  });
  const lines = files.map(
    ({ path, size_bytes: bytes, stored_at: at, deleted }) =>
      `${(deleted ? 'deleted' : formatBytes(bytes)).padStart(10)}  ${shownTime(at)}  ${shownLine(path)}`,
  );
  const current = files.filter(({ deleted }) => !deleted);
  const bytes = current.reduce((sum, { size_bytes: size }) => sum + size, 0);
  const sum = `${countWithNoun(current.length, 'file')}, ${formatBytes(bytes)}`;
  return printResult(options, { files }, () => [...lines, sum].join('\n'));
}

async function log(options: Options): Promise<number> {
  const limit = readLimit(options);
  const { hub } = await openPlace(options);
  const files = await listFiles(hub, { include_deleted: true });
  const newest = files.sort((a, b) => b.seq - a.seq).slice(0, limit);
  const rows = newest.map(
    ({ path, stored_at: at, deleted, device_id: device }) =>
      [`${shownTime(at)}  ${deleted ? 'deleted' : 'changed'}`, `${shownLine(path)}  (${shownLine(device)})`] as const,
  );
  return printResult(options, { files: newest }, () => (rows.length === 0 ? 'nothing was synced yet' : table(rows)));
}

async function history(options: Options): Promise<number> {
  const limit = readLimit(options);
  const place = await openPlace(options, options.operand());
  return await onFile(place, options.operand() ?? '', (path) => historyOf(options, place, { path, limit }));
}

async function historyOf(options: Options, { hub }: VaultPlace, { path, limit }: { path: string; limit: number }) {
  const versions: FileVersion[] = [];
  let hasMore = false;
  for await (const version of fileVersionsOf(hub, path)) {
    hasMore = versions.length === limit;
    if (hasMore) break;
    versions.push(version);
  }
  const notChosen = await notChosenSidesOf(hub, path);
  const rows = [
    ...versions.map((version) => ({ at: version.stored_at, line: versionLine(version, path) })),
    ...notChosen.map((side) => ({ at: side.detected_at, line: sideLine(side) })),
  ].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return printResult(options, { path, versions, not_chosen: notChosen, has_more: hasMore }, () =>
    [
      ...rows.map(({ line }) => line),
      ...(hasMore ? [`there are older versions; show more with --limit ${limit * 2}`] : []),
      `restore one: \`cairn sync restore ${pathWord(path)} --seq N\`, or --at TIME`,
    ].join('\n'),
  );
}

function versionLine(version: FileVersion, path: string): string {
  const { seq, stored_at: at, status, size_bytes: bytes, device_id: device, deleted, renamed_from: from } = version;
  const size = deleted ? '' : formatBytes(bytes);
  const name = version.path === path ? '' : `  as ${shownLine(version.path)}`;
  const source = from === null ? '' : `  from ${shownLine(from)}`;
  return `#${String(seq).padEnd(7)} ${shownTime(at)}  ${status.padEnd(8)} ${size.padStart(10)}  ${shownLine(device)}${name}${source}`;
}

function sideLine({ conflict_id: id, detected_at: at, size_bytes: bytes, device_id: device }: NotChosenSide): string {
  return `not chosen, ${shownLine(device)}, ${shownTime(at)}, ${formatBytes(bytes)}: --seq ${sideName(id)}`;
}

/** Messages for a file without a line diff, by status. */
const SHOWN: Readonly<Record<string, string>> = {
  identical: 'the same here and on the hub',
  missing: 'not on the hub yet',
  deleted: 'deleted on the hub',
};

async function diff(options: Options): Promise<number> {
  const place = await openPlace(options, options.operand());
  return await onFile(place, options.operand() ?? '', (path) => diffOf(options, place, path));
}

async function diffOf(options: Options, { hub, root }: VaultPlace, path: string): Promise<number> {
  const copy = root === undefined ? undefined : readCopy(root, path);
  const { structured } = await hub.call('sync_diff', {
    path,
    ...(copy?.bytes === undefined ? {} : encodedContent(copy.bytes)),
  });
  const { status, diff: text } = readAs(diffSchema, structured);
  if (status === 'missing' && copy === undefined) throw notOnHub(path);
  if (options.json) {
    print(jsonLine(structured));
    return 0;
  }
  if (copy === undefined) print(`${shownLine(path)} is not in this folder; its last change on the hub:`);
  if (text !== null && text !== '') print(text.trimEnd());
  else print(`${shownLine(path)} is ${SHOWN[status] ?? status}`);
  return 0;
}

/** The copy of a file in the folder; undefined when there is none. Throws ClientError when a sync leaves it out. */
function readCopy(root: string, path: string): Content | undefined {
  const leftOut = (why: string) => new ClientError(`${shownLine(path)} is not synced. ${why}`);
  const checked = checkFolderPath(path);
  if (isBad(checked)) throw leftOut(checked.bad);
  const folder = new SyncedFolder(root);
  const blocked = folder.blocked(checked);
  if (blocked !== undefined) throw leftOut(blocked);
  try {
    const stats = lookAt(folder.at(checked));
    if (stats?.isDirectory() === true) throw noFile(path);
    if (stats?.isFile() === false) throw leftOut('Links, pipes and devices are left out.');
    if (stats !== undefined && isLarge(stats))
      throw new ClientError(
        `${shownLine(path)} is larger than ${formatBytes(limits.fileBytesMax)}; there is no line diff of it.`,
      );
    return folder.read(checked);
  } catch (error) {
    throw error instanceof Unreadable ? leftOut(error.message) : error;
  }
}

function readLimit(options: Options): number {
  const given = options.optional('limit') ?? String(ROWS_DEFAULT);
  if (!/^[1-9]\d{0,5}$/.test(given)) throw new UsageError('--limit must be a whole number of at least 1');
  return Number(given);
}
