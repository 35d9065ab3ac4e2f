/**
 * Turns an archive into a folder that a person opens without Cairn: Markdown, CSV, a calendar, and the files themselves.
 * It has what is current. History, the trash and activity are in the archive only.
 */
import { join } from 'node:path';
import type { z } from 'zod';
import { type ArchiveManifest, type ArchiveSection, BLOB_FOLDER, readRecord } from '../../archive/format.ts';
import { ArchiveReader } from '../../archive/reader.ts';
import { instantUpTo } from '../../archive/records.ts';
import { version } from '../../common/version.ts';
import { type ContentType, declaredDoc } from '../../documents/dev-docs/declared.ts';
import { declaredHandoff } from '../../documents/handoffs/declared.ts';
import { declaredPaper } from '../../documents/papers/declared.ts';
import { versionSchema } from '../../documents/portable.ts';
import { blobRecord } from '../../mirror/portable.ts';
import { taskRecord } from '../../tasks/portable.ts';
import { CALENDAR_END, calendarStart, calendarTask } from './calendar.ts';
import { csvLine } from './csv.ts';
import { PlainFolder } from './folder.ts';
import { FolderNames, plainName } from './names.ts';
import { readMe } from './read-me.ts';
import { writeVaults } from './vaults.ts';

const instant = instantUpTo(Number.POSITIVE_INFINITY);

export interface PlainOptions {
  /** Folder of the archive. */
  readonly archive: string;
  /** Folder to write into: empty, on the same disk as the archive. */
  readonly folder: string;
  /** Receives the number of bytes written so far. */
  readonly onBytes: (bytes: number) => void;
}

export interface PlainSummary {
  readonly account: string;
  readonly made_at: string;
  readonly files: number;
  readonly bytes: number;
  /** What is not there although the account has it, one sentence each. */
  readonly left_out: readonly string[];
}

/** Writes everything. Throws the error of the system when the disk does, and Refusal when the archive is damaged. */
export async function writePlain({ archive: from, folder, onBytes }: PlainOptions): Promise<PlainSummary> {
  const archive = await ArchiveReader.open(from, () => undefined, new AbortController().signal);
  const { account, made_at, missing } = archive.manifest;
  const out = new PlainFolder(folder, onBytes);
  const categories = await writeTasks(archive, out);
  await writePapers(archive, out, categories);
  await writeNotes(archive, out);
  await writeHandoffs(archive, out);
  await writeBackups(archive, from, out);
  await writeVaults(archive, out);
  for (const one of missing ?? []) out.leaveOut(one);
  await out.write('README.md', [readMe(archive.manifest, out.leftOut)]);
  return { account: account.email, made_at, files: out.files, bytes: out.bytes, left_out: out.leftOut };
}

type Categories = ReadonlyMap<number, string>;

async function writeTasks(archive: ArchiveReader, out: PlainFolder): Promise<Categories> {
  const categories = new Map<number, string>();
  const table = out.lines('tasks.csv');
  const calendar = out.lines('tasks.ics');
  try {
    table.write(
      csvLine([
        'id',
        'task',
        'status',
        'category',
        'due_date',
        'important',
        'completed_at',
        'created_at',
        'updated_at',
        'changed_by',
      ]),
    );
    calendar.write(calendarStart(version));
    for await (const line of linesOf(archive, 'tasks', taskRecord(instant))) {
      if (line.type === 'category') categories.set(line.id, line.name);
      if (line.type !== 'task' || line.deleted_at !== null) continue;
      const category = line.category_id === null ? undefined : categories.get(line.category_id);
      table.write(
        csvLine([
          line.id,
          line.content,
          line.kanban_status,
          category,
          line.due_date,
          line.is_important,
          line.completed_at,
          line.created_at,
          line.updated_at,
          line.changed_by,
        ]),
      );
      calendar.write(calendarTask({ task: line, category }, ownerOf(archive.manifest)));
    }
    calendar.write(CALENDAR_END);
  } finally {
    table.close();
    calendar.close();
  }
  return categories;
}

/** Differs between accounts, and stays the same from export to export, so that a calendar replaces its to-dos. */
const ownerOf = ({ account }: ArchiveManifest): string => `${Date.parse(account.created_at)}@cairn`;

async function writePapers(archive: ArchiveReader, out: PlainFolder, categories: Categories): Promise<void> {
  const names = new FolderNames();
  const table = out.lines('papers.csv');
  try {
    table.write(csvLine(['file', 'title', 'category', 'published_at', 'created_at', 'updated_at']));
    for await (const [paper, { content }] of documentsOf(
      archive,
      'papers',
      'paper',
      declaredPaper.archivedAs('paper', instant),
    )) {
      if (paper.deleted_at !== null) continue;
      const file = `papers/${names.give(paper.title, '.md')}`;
      await out.write(file, [content], { modified: paper.updated_at });
      const category = paper.category_id === null ? undefined : categories.get(paper.category_id);
      table.write(csvLine([file, paper.title, category, paper.published_at, paper.created_at, paper.updated_at]));
    }
  } finally {
    table.close();
  }
}

const EXTENSIONS = { markdown: '.md', json: '.json', yaml: '.yaml', text: '.txt' } as const satisfies Record<
  ContentType,
  string
>;

/** Rules and notes: the tools call them dev docs. */
async function writeNotes(archive: ArchiveReader, out: PlainFolder): Promise<void> {
  const folders = new Map<string, FolderNames>();
  const line = declaredDoc.archivedAs('doc', instant).extend({ changed_at: instant });
  for await (const [doc, { content }] of documentsOf(archive, 'docs', 'doc', line)) {
    if (doc.deleted_at !== null) continue;
    const folder = plainName(doc.category);
    const names = folders.get(folder) ?? new FolderNames();
    folders.set(folder, names);
    await out.write(`notes/${folder}/${names.give(doc.title, EXTENSIONS[doc.content_type])}`, [content], {
      modified: doc.updated_at,
    });
  }
}

async function writeHandoffs(archive: ArchiveReader, out: PlainFolder): Promise<void> {
  const folders = new Map<string, FolderNames>();
  for await (const [handoff, { content }] of documentsOf(
    archive,
    'handoffs',
    'handoff',
    declaredHandoff.archivedAs('handoff', instant),
  )) {
    const folder = plainName(handoff.project);
    const names = folders.get(folder) ?? new FolderNames();
    folders.set(folder, names);
    const when = [handoff.date, ...(handoff.time === null ? [] : [handoff.time])].join(' ');
    await out.write(`handoffs/${folder}/${names.give(`${when} ${handoff.topic}`, '.md')}`, [content], {
      modified: handoff.updated_at,
    });
  }
}

/** The archives stay encrypted: their key was never on the hub. */
async function writeBackups(archive: ArchiveReader, from: string, out: PlainFolder): Promise<void> {
  const names = new FolderNames();
  const given = new Map<string, string>();
  const table = out.lines('backups.csv');
  try {
    table.write(csvLine(['file', 'repository', 'commit', 'sha256', 'bytes', 'uploaded_at', 'uploaded_by']));
    for await (const blob of linesOf(archive, 'mirror', blobRecord(instant))) {
      if (blob.type !== 'blob') continue;
      const day = blob.uploaded_at.slice(0, 10);
      const label = blob.repository_label ?? 'backup';
      const file =
        given.get(blob.sha256) ??
        `backups/${names.give(`${label} ${day} ${blob.commit_sha.slice(0, 12)}`, blob.archive_kind == null ? '.bin' : '.age')}`;
      if (!given.has(blob.sha256)) out.link(join(from, BLOB_FOLDER, blob.sha256), file);
      given.set(blob.sha256, file);
      table.write(
        csvLine([
          file,
          blob.repository_label,
          blob.commit_sha,
          blob.sha256,
          blob.byte_size,
          blob.uploaded_at,
          blob.uploaded_by,
        ]),
      );
    }
  } finally {
    table.close();
  }
}

async function* linesOf<T>(archive: ArchiveReader, section: ArchiveSection, schema: z.ZodType<T>): AsyncGenerator<T> {
  for await (const { number, document } of archive.lines(section)) {
    yield readRecord(schema, document, `${section} line ${number}: `);
  }
}

type VersionLine = z.infer<ReturnType<typeof versionSchema>>;

/** Yields each document with its current version, which is the last of those behind it. */
async function* documentsOf<R extends { readonly version: number }>(
  archive: ArchiveReader,
  section: 'papers' | 'docs' | 'handoffs',
  type: string,
  schema: z.ZodType<R>,
): AsyncGenerator<readonly [R, VersionLine]> {
  const versionLine = versionSchema(instant);
  let document: R | undefined;
  for await (const { number, document: line } of archive.lines(section)) {
    const place = `${section} line ${number}: `;
    const kind = (line as { readonly type?: unknown } | null)?.type;
    if (kind === type) document = readRecord(schema, line, place);
    if (kind !== 'version' || document === undefined) continue;
    const text = readRecord(versionLine, line, place);
    if (text.version === document.version) yield [document, text];
  }
}
