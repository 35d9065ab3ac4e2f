/** Defines the tools that read a vault: sync_pull and sync_list. */
import { z } from 'zod';
import { turns } from '../../common/turns.ts';
import { goesAsLines } from '../../gateway/listing.ts';
import { recordsText } from '../../gateway/records-text.ts';
import { defineTool, type LinesWish, READS } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../log/file-record.ts';
import { checkPrefix } from '../log/paths.ts';
import { formatListCursor, readListCursor } from '../pull/cursor.ts';
import { pullArguments } from '../pull/input.ts';
import type { FileListPage } from '../pull/list.ts';
import type { PulledFile, PulledFiles } from '../pull/pull.ts';
import { pathArgument, vaultIdArgument } from '../push/input.ts';
import type { SyncReading } from '../reading.ts';
import { fileUri } from './uri.ts';

const recordSchema = {
  seq: z.int().positive().describe('Number of its newest change in the vault'),
  path: z.string(),
  sha256: z.string(),
  git_sha: z.string(),
  hlc: z.string(),
  size_bytes: z.int().nonnegative(),
  stored_at: z.string(),
  device_id: z.string().describe('The device that sent it'),
  remote_mtime: z.string().nullable().describe('Modification time reported by that device'),
};

const fileSchema = {
  type: z.literal('file'),
  ...recordSchema,
  status: z.string(),
  executable: z.literal(true).optional().describe('Only for executable files'),
  renamed_from: z.string().optional(),
  encoding: z
    .enum(['base64', 'chunks'])
    .optional()
    .describe('base64: content is base64 of the bytes; chunks: it is the list of the chunks of a large file'),
  content: z.string().optional().describe('Missing with brief, where it is long'),
};

const deletedSchema = z.object({
  type: z.literal('deleted'),
  ...recordSchema,
  deleted_at: z.string(),
  status: z.string(),
  renamed_from: z.string().optional(),
});

const allOptional = z.object({ ...fileSchema }).partial().shape;

/** One file or many: the mode determines which members are present. */
const pullResult = z.object({
  ...allOptional,
  vault_id: z.string().optional(),
  files: z.array(z.object(fileSchema)).optional(),
  deleted: z.array(deletedSchema).optional().describe('Files deleted since; remove them'),
  missing: z.array(z.string()).optional().describe('Requested paths that never had a file'),
  total_count: z.int().nonnegative().optional().describe('Files in this answer'),
  total_size_bytes: z.int().nonnegative().optional().describe('Content bytes of the files in this answer'),
  deleted_count: z.int().nonnegative().optional(),
  cursor: z.string().nullable().optional().describe('For the next pull; null: none'),
  has_more: z.boolean().optional().describe('True: incomplete; pull again with the cursor now'),
  server_time: z.string().optional().describe('Time of the hub; continue with cursor'),
  quarantined: z
    .array(z.object({ path: z.string(), sha256: z.string() }))
    .optional()
    .describe('Left out because their stored content is damaged; push it again'),
  warnings: z.array(z.string()).optional(),
});

const listedSchema = z.object({
  ...recordSchema,
  executable: z.boolean().describe('Whether the file may be run as a program'),
  deleted: z.boolean(),
  versions: z.int().positive().describe('Kept versions of this path; 1 also for a new file'),
  protected: z.boolean().describe('True: a push needs base_sha'),
  quarantined: z.literal(true).optional().describe('Its stored content is damaged; push it again'),
});

export function syncPull({ pull }: SyncReading) {
  return defineTool({
    name: 'sync_pull',
    title: 'Read files',
    access: 'account',
    description:
      'Reads files with content: one path, these paths, all (initial), or what changed since a time or cursor. Large results are NDJSON.',
    input: pullArguments,
    output: pullResult,
    annotations: READS,
    example: { initial: true, device_id: 'phone' },
    lists: true,
    async handle(args, { accountId }, caller) {
      const takesLines = (bytes: number) => goesAsLines(caller.lines, bytes);
      const pulled = await pull.pull(accountId, args, { takesLines, linger: caller.linger });
      return pulled.kind === 'one' ? oneResult(pulled) : manyResult(pulled, caller.lines);
    },
  });
}

function oneResult({ vaultId, file, line }: PulledFile) {
  const rest = `… the text ends here; read with id ${fileUri(vaultId, file.path)} to continue`;
  return { document: line, text: () => recordsText('', line, 'never', recordText, rest) };
}

function manyResult(pulled: PulledFiles, lines: LinesWish) {
  const { vaultId, files, tombstones, fileCount, tombstoneCount, sizeBytes, cursor, hasMore, missing } = pulled;
  const structured = {
    vault_id: vaultId,
    deleted_count: tombstoneCount,
    ...(missing === undefined ? {} : { missing: [...missing] }),
    cursor,
    has_more: hasMore,
    server_time: pulled.serverTime,
    ...(pulled.quarantined.length === 0 ? {} : { quarantined: [...pulled.quarantined] }),
    warnings: [...pulled.warnings],
  };
  const more = hasMore ? '; there is more, so pull again with it' : '';
  const headline = [
    `${plural(fileCount, 'file')} of ${plural(sizeBytes, 'byte')}, ${tombstoneCount} deleted`,
    ...(cursor === null ? [] : [`cursor ${cursor}${more}`]),
    ...(missing === undefined || missing.length === 0 ? [] : [`missing: ${missing.join(', ')}`]),
    ...pulled.warnings,
  ].join('\n');
  const text = () => recordsText(recordsText(headline, tombstones, lines, recordText), files, lines, recordText);
  const listing = { count: fileCount, sizeBytes, lines: files, members: { files, deleted: tombstones } };
  return { structured, text, listing };
}

/** The fields of a pulled line that the text shows. */
interface PulledLine {
  readonly type: 'file' | 'deleted';
  readonly path: string;
  readonly sha256: string;
  readonly seq: number;
  readonly size_bytes: number;
  readonly encoding?: string;
  readonly content?: string;
}

function recordText({ type, path, sha256, seq, size_bytes, encoding = 'utf-8', content = '' }: PulledLine): string {
  if (type === 'deleted') return `--- ${path} was deleted, #${seq}`;
  return `--- ${path} is ${size_bytes} bytes (${encoding}), sha256 ${sha256}, #${seq}:\n${content}`;
}

export function syncList(reading: SyncReading) {
  return defineTool({
    name: 'sync_list',
    title: 'List files',
    access: 'account',
    description: 'Lists files without content, by path.',
    input: z.strictObject({
      prefix: pathArgument.optional().describe('Only paths starting with this, e.g. notes/'),
      glob: z
        .string()
        .min(1)
        .max(limits.globCharsMax)
        .optional()
        .describe('With *, ?, ** and {a,b}; without a slash, in any folder'),
      include_deleted: z.boolean().optional(),
      limit: z.int().min(1).max(limits.listPageMax).default(limits.listPageDefault),
      cursor: z.string().max(limits.listCursorCharsMax).optional().describe('From an earlier answer'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      files: z.array(listedSchema),
      total_count: z
        .int()
        .nonnegative()
        .nullable()
        .describe('Number of current files that match; null: not all were examined'),
      total_size_bytes: z.int().nonnegative().nullable(),
      has_more: z.boolean(),
      cursor: z.string().nullable().describe('For the next page; null: last page'),
      server_time: z.string(),
    }),
    annotations: READS,
    example: { prefix: 'notes/' },
    async handle(args, { accountId }) {
      const vaultId = await reading.vaults.idOf(accountId, args.vault_id);
      const page = await reading.fileLists.list(
        { accountId, vaultId },
        {
          prefix: args.prefix === undefined ? undefined : checkPrefix(args.prefix),
          glob: args.glob,
          includeDeleted: args.include_deleted ?? false,
          limit: args.limit,
          after: args.cursor === undefined ? undefined : readListCursor(reading.hash, args.cursor, vaultId),
        },
      );
      const isProtected = reading.vaults.protectionOf(reading.vaults.record(accountId, vaultId));
      const listed: z.input<typeof listedSchema>[] = [];
      for (const { folded, file } of page.files) {
        if (turns.isOver) await turns.next(accountId);
        const isSetAside = reading.reader.isSetAside(vaultId, file.seq);
        listed.push({ ...listedView(file, isProtected(folded)), ...(isSetAside ? { quarantined: true } : {}) });
      }
      const structured = {
        vault_id: vaultId,
        files: listed,
        total_count: page.total?.files ?? null,
        total_size_bytes: page.total?.bytes ?? null,
        has_more: page.next !== undefined,
        cursor: page.next === undefined ? null : formatListCursor(reading.hash, { vaultId, folded: page.next }),
        server_time: new Date(reading.now()).toISOString(),
      };
      return { structured, text: listText(page, structured.cursor) };
    },
  });
}

function listedView(file: FileRecord, isProtected: boolean) {
  return {
    seq: file.seq,
    path: file.path,
    sha256: file.sha256,
    git_sha: file.git_sha,
    hlc: file.hlc,
    size_bytes: file.size_bytes,
    stored_at: new Date(file.stored_ms).toISOString(),
    device_id: file.device_id,
    remote_mtime: file.mtime,
    executable: file.executable,
    deleted: file.deleted,
    versions: file.versions,
    protected: isProtected,
  };
}

function listText({ files, total }: FileListPage, cursor: string | null): string {
  const of = total === undefined ? '' : ` of ${total.files}`;
  const more = cursor === null ? '' : `; there are more, so list again with cursor ${JSON.stringify(cursor)}`;
  return headed(`${plural(files.length, 'file')}${of}${more}`, files, ({ file }) => {
    const state = file.deleted ? 'deleted' : `${file.size_bytes} bytes`;
    return `${file.path} ${state}, sha256 ${file.sha256}, #${file.seq}, ${file.device_id}`;
  });
}
