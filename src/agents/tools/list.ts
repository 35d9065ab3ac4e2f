/** Declares the tool that lists what there is, in one form for every kind. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { handoffId } from '../../documents/handoffs/thing.ts';
import { paperUri } from '../../documents/papers/resources.ts';
import { defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { checkPath } from '../../sync/log/paths.ts';
import { formatListCursor, readListCursor } from '../../sync/pull/cursor.ts';
import { devicesOf } from '../../sync/tools/devices.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { foldCase } from '../../text/fold-case.ts';
import { conflictUri, thingPlaceOf } from '../things/ids.ts';
import { meantPlace } from '../things/meant.ts';
import { fileName, vaultOf } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { minute, sizeText } from './shown.ts';
import { trashOf } from './trash.ts';

const item = z.object({
  id: z.string(),
  about: z.string().describe('Size, time, and what else is known'),
  sha256: z.string().optional(),
  version: z.int().optional(),
});

type Item = z.output<typeof item>;

/** A page of items, each with the text of its line. */
interface Page {
  readonly headline: string;
  readonly items: readonly Item[];
  readonly cursor?: string | undefined;
}

interface Asked {
  readonly of: string;
  readonly glob: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Answers what only other capabilities know; see compose. */
export interface Reports {
  /** Last backups, one line each. */
  backups(accountId: string): readonly string[];
}

type Lister = (shelves: Shelves, accountId: string, asked: Asked, reports: Reports) => Page | Promise<Page>;

const LISTERS: Readonly<Record<string, Lister>> = {
  docs: listDocs,
  handoffs: listHandoffs,
  papers: listPapers,
  conflicts: listConflicts,
  vaults: listVaults,
  devices: listDevices,
  categories: listCategories,
  trash: listTrash,
  backups: (_shelves, accountId, _asked, reports) => lines('backups', reports.backups(accountId)),
};

export function listTool(shelves: Shelves, reports: Reports): Tool {
  return defineTool({
    name: 'list',
    title: 'List files, documents and more',
    access: 'account',
    description: `Lists a folder of a vault (id or path), or one of ${Object.keys(LISTERS).join(', ')}. Without arguments: what there is.`,
    input: z.strictObject({
      in: z.string().max(limits.thingIdCharsMax).optional().describe('notes/, docs/{category}, handoffs/{project}, …'),
      glob: z.string().min(1).max(limits.globCharsMax).optional().describe('Files in all folders, e.g. *.md'),
      limit: z.int().min(1).max(limits.listItemsMax).optional(),
      cursor: z.string().max(limits.listCursorCharsMax).optional(),
      detail: z.boolean().optional().describe('Adds hashes and versions'),
    }),
    output: z.object({ items: z.array(item), cursor: z.string().nullable() }),
    annotations: READS,
    hints: { search: 'list folder files vaults devices categories trash conflicts last backup' },
    example: { in: 'notes/' },
    async handle({ in: place = '', glob, limit = limits.listItemsDefault, cursor, detail = false }, { accountId }) {
      const asked = { of: '', glob, limit, cursor };
      const page = await pageOf(shelves, accountId, { ...asked, place }, reports);
      const more =
        page.cursor === undefined ? '' : `; there are more, go on with cursor ${JSON.stringify(page.cursor)}`;
      const line = ({ id, about, sha256, version }: Item) =>
        [id, about, ...(detail && version !== undefined ? [`version ${version}`] : []), ...(detail ? [sha256] : [])]
          .filter((word) => word !== undefined && word !== '')
          .join(' ');
      return {
        structured: { items: [...page.items], cursor: page.cursor ?? null },
        text: headed(`${page.headline}${more}`, page.items, line),
      };
    },
  });
}

async function pageOf(
  shelves: Shelves,
  accountId: string,
  { place, ...asked }: Asked & { readonly place: string },
  reports: Reports,
): Promise<Page> {
  if (place === '' && asked.glob === undefined) return await overview(shelves, accountId, reports);
  if (/^\.\/?$/.test(place)) return await listFolder(shelves, accountId, '/', asked);
  const [, room = '', of = ''] = /^(?:cairn:\/\/)?([a-z]+)(?:\/([^/]*))?\/?$/.exec(place) ?? [];
  const lister = Object.hasOwn(LISTERS, room) ? LISTERS[room] : undefined;
  const isFolder = of !== '' && (room === 'vaults' || !['docs', 'handoffs'].includes(room));
  if (lister !== undefined && !isFolder && asked.glob === undefined) {
    const page = await lister(shelves, accountId, { ...asked, of: decoded(of) }, reports);
    const folder = place.startsWith('cairn://') ? undefined : folderNamed(shelves, accountId, place);
    if (folder === undefined) return page;
    // A folder of this name is meant when there is nothing else, and is told when there is.
    if (page.items.length === 0) return await listFolder(shelves, accountId, folder, asked);
    return { ...page, headline: `${page.headline}; the folder of this name is ${JSON.stringify(folder)}` };
  }
  return await listFolder(shelves, accountId, place, asked);
}

/** A name as a URI has it, or as it is: people and models type both. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The id of a folder of the primary vault; undefined: there is none. */
function folderNamed({ sync }: Shelves, accountId: string, place: string): string | undefined {
  const vaultId = sync.reader.primaryOf(accountId);
  const folder = place.replace(/\/+$/, '');
  const isThere = vaultId !== undefined && sync.reader.childrenOf(vaultId, foldCase(folder)) > 0;
  return isThere ? fileUri(vaultId, `${folder}/`) : undefined;
}

/** What an account has, in a few lines. */
async function overview(shelves: Shelves, accountId: string, reports: Reports): Promise<Page> {
  const { docs, handoffs, papers, sync, tasks } = shelves;
  const vaults = sync.vaults.list(accountId);
  const categories = docs.categories(accountId).filter(({ docs: count }) => count > 0);
  const projects = handoffs.newestOfEach(accountId, { limit: limits.listItemsDefault }).handoffs;
  const { total } = tasks.list(accountId, openTasks);
  const found = papers.list(accountId, { include_content: false, limit: limits.paperPageMax });
  const pending = vaults.reduce((sum, { head }) => sum + head.pending, 0);
  const items: Item[] = [
    ...(await Promise.all(
      vaults.map(async ({ id, record, head }, index) => {
        const inside = index < VAULTS_OPENED ? await insideOf(shelves, accountId, id) : '';
        const name = `${record.name}${record.is_primary ? ' (primary)' : ''}`;
        return {
          id: fileUri(id, ''),
          about: `${name}: ${plural(head.files, 'file')}, ${sizeText(head.bytes)}${inside}`,
        };
      }),
    )),
    ...categories.map(({ name, docs: count }) => ({ id: `docs/${name}`, about: plural(count, 'dev doc') })),
    ...projects.map((one) => ({ id: `handoffs/${one.project}`, about: `last: ${one.topic}, ${one.date}` })),
    ...(found.papers.length === 0 ? [] : [{ id: 'papers', about: papersText(found) }]),
    { id: 'tasks', about: `${total} open (list_tasks)` },
    ...(pending === 0 ? [] : [{ id: 'conflicts', about: `${pending} pending` }]),
    ...reports
      .backups(accountId)
      .slice(0, 3)
      .map((about) => ({ id: 'backups', about })),
    { id: 'cairn://setup', about: 'how to connect another client (read it, or cairn://setup/codex)' },
  ];
  return { headline: 'what there is', items };
}

function papersText({ papers, cursor }: ReturnType<Shelves['papers']['list']>): string {
  return `${cursor === undefined ? '' : 'more than '}${plural(papers.length, 'paper')}`;
}

const VAULTS_OPENED = 3;
const ENTRIES_SHOWN = 12;

/** The folders of a vault with how much is in them, and its files beside them. */
async function insideOf({ sync }: Shelves, accountId: string, vaultId: string): Promise<string> {
  const query = { folder: '', after: undefined, limit: ENTRIES_SHOWN };
  const { folders, files, next } = await sync.reading.folders.list({ accountId, vaultId }, query);
  const entries = [...folders.map(({ path, children }) => `${path}/ ${children}`), ...files.map(({ path }) => path)];
  return entries.length === 0 ? '' : `; ${entries.join(', ')}${next === undefined ? '' : ', …'}`;
}

const openTasks = {
  filter: { completed: false },
  order: { sortBy: 'created_at', descending: true },
  limit: 1,
  offset: 0,
} as const;

async function listDocs({ docs }: Shelves, accountId: string, { of, limit, cursor }: Asked): Promise<Page> {
  const category = of === '' ? undefined : of;
  const page = await docs.list(accountId, { category, limit: Math.min(limit, limits.devDocListMax), cursor });
  const items = page.docs.map((doc) => ({
    id: docUri(doc),
    about: `${sizeText(doc.size_bytes)}, ${minute(doc.updated_at)}`,
    version: doc.version,
  }));
  return { headline: plural(items.length, 'dev doc'), items, cursor: page.cursor };
}

function listHandoffs({ handoffs }: Shelves, accountId: string, { of, limit, cursor }: Asked): Page {
  const project = of === '' ? undefined : of;
  const page = handoffs.page(accountId, { project, limit: Math.min(limit, limits.handoffListMax), cursor });
  const items = page.handoffs.map((one) => ({
    id: handoffId(one),
    about: `${one.project} / ${one.topic}, ${one.date}: ${one.preview}`,
    version: one.version,
  }));
  const meant = project !== undefined && items.length === 0 ? handoffs.meantProject(accountId, project) : undefined;
  const hint = meant === undefined ? '' : `; did you mean handoffs/${meant}?`;
  return { headline: `${plural(items.length, 'handoff')}${hint}`, items, cursor: page.cursor };
}

function listPapers({ papers }: Shelves, accountId: string, { limit, cursor }: Asked): Page {
  if (cursor !== undefined && !/^[1-9]\d{0,14}$/.test(cursor)) throw badCursor();
  const page = papers.list(accountId, {
    include_content: false,
    limit: Math.min(limit, limits.paperPageMax),
    ...(cursor === undefined ? {} : { cursor: Number(cursor) }),
  });
  const items = page.papers.map(({ paper }) => ({
    id: paperUri(paper.id),
    about: `${paper.title} (${paper.published ? 'published' : 'draft'}, ${sizeText(paper.size_bytes)}, ${minute(paper.updated_at)})`,
    version: paper.version,
  }));
  return { headline: plural(items.length, 'paper'), items, cursor: page.cursor };
}

async function listConflicts({ sync }: Shelves, accountId: string, { limit }: Asked): Promise<Page> {
  const items: Item[] = [];
  let isCut = false;
  for (const { id: vaultId } of sync.vaults.list(accountId)) {
    const query = { vaultId, path: undefined, limit: limit - items.length, cursor: undefined };
    if (query.limit === 0) break;
    const page = await sync.conflicts.pending(accountId, query);
    isCut ||= page.cursor !== undefined;
    for (const { id, record } of page.conflicts) {
      const about = `${fileName({ sync }, accountId, vaultId, record.path)} (${record.kind}, from ${record.device_id}, ${minute(record.detected_at)})`;
      items.push({
        id: conflictUri(id),
        about,
        ...(record.your_sha256 === null ? {} : { sha256: record.your_sha256 }),
      });
    }
  }
  const cut = isCut ? '; there are more, settle these first' : '';
  const next = items.length === 0 ? '' : '; read shows both sides merged, settle_conflict ends it';
  return { headline: `${plural(items.length, 'pending conflict')}${next}${cut}`, items };
}

function listVaults({ sync }: Shelves, accountId: string): Page {
  const items = sync.vaults.list(accountId).map(({ id, record, head }) => ({
    id: fileUri(id, ''),
    about: `${record.name}${record.is_primary ? ' (primary)' : ''}: ${plural(head.files, 'file')}, ${sizeText(head.bytes)}, ${plural(head.pending, 'conflict')}`,
    version: head.seq,
  }));
  return { headline: plural(items.length, 'vault'), items };
}

async function listDevices({ sync }: Shelves, accountId: string): Promise<Page> {
  const items: Item[] = [];
  for (const { id, record } of sync.vaults.list(accountId)) {
    await sync.reading.packer.settle(id);
    for (const device of devicesOf(sync.reading, id, undefined)) {
      const about = `${device.device_id}: last seen ${minute(device.last_seen_at)}, ${plural(device.changes_behind, 'change')} behind`;
      items.push({ id: record.name, about });
    }
  }
  return { headline: plural(items.length, 'device'), items };
}

function listCategories({ tasks, docs }: Shelves, accountId: string): Page {
  const items = [
    ...tasks.categories
      .list(accountId)
      .map(({ id, name, task_count: count }) => ({ id: name, about: `category_id ${id}, ${plural(count, 'task')}` })),
    ...docs
      .categories(accountId)
      .map(({ name, docs: count }) => ({ id: `docs/${name}`, about: plural(count, 'dev doc') })),
  ];
  return { headline: plural(items.length, 'category', 'categories'), items };
}

async function listTrash(shelves: Shelves, accountId: string, { limit, cursor }: Asked): Promise<Page> {
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw badCursor();
  const from = Number(cursor ?? 0);
  const { headline, items } = await trashOf(shelves, accountId);
  const next = from + limit < items.length ? `${from + limit}` : undefined;
  return { headline, items: items.slice(from, from + limit), cursor: next };
}

/** One folder: its subfolders with counts, then its files. With a glob: all files that match, in all folders. */
async function listFolder(shelves: Shelves, accountId: string, place: string, asked: Omit<Asked, 'of'>): Promise<Page> {
  const { sync } = shelves;
  const found = thingPlaceOf(place, 'in');
  if (found.kind !== 'file')
    throw invalidField('in', `in must be a folder or one of ${Object.keys(LISTERS).join(', ')}`);
  const vaultId = await vaultOf(shelves, accountId, found);
  const folder = found.path.replace(/\/+$/, '');
  const { path = '', folded = '' } = folder === '' ? {} : checkPath(folder, 'in');
  const { glob, limit, cursor } = asked;
  const nameOf = (of: string) => fileName(shelves, accountId, vaultId, of);
  const describe = (file: {
    size_bytes: number;
    stored_ms: number;
    path: string;
    sha256: string;
    seq: number;
  }): Item => ({
    id: nameOf(file.path),
    about: `${sizeText(file.size_bytes)}, ${minute(new Date(file.stored_ms).toISOString())}`,
    sha256: file.sha256,
    version: file.seq,
  });
  if (glob !== undefined) {
    const page = await sync.reading.fileLists.list(
      { accountId, vaultId },
      {
        prefix: path === '' ? undefined : `${path}/`,
        glob,
        includeDeleted: false,
        limit,
        after: cursor === undefined ? undefined : readListCursor(sync.reading.hash, cursor, vaultId),
      },
    );
    const next =
      page.next === undefined ? undefined : formatListCursor(sync.reading.hash, { vaultId, folded: page.next });
    return {
      headline: plural(page.files.length, 'file'),
      items: page.files.map(({ file }) => describe(file)),
      cursor: next,
    };
  }
  const page = await sync.reading.folders.list({ accountId, vaultId }, { folder: folded, after: cursor, limit });
  const items = [
    ...page.folders.map((one) => ({ id: nameOf(`${one.path}/`), about: `${one.children} in it` })),
    ...page.files.map(describe),
  ];
  const other = found.vault === undefined ? meantPlace(shelves, accountId, folder)?.id : undefined;
  if (items.length === 0 && folder !== '' && cursor === undefined) {
    const hints = [
      folder === 'tasks' ? 'list_tasks lists tasks' : undefined,
      ['activity', 'changes', 'history'].includes(folder) ? 'history without id lists what changed' : undefined,
      other && `did you mean ${other}, in the vault of this name?`,
      `list with in ${JSON.stringify(nameOf(''))} shows what is there`,
    ];
    throw invalidField('in', `no folder ${folder} in this vault; ${hints.find((hint) => hint !== undefined)}`);
  }
  const beside = other === undefined ? '' : `; in the vault of this name it would be ${other}`;
  return {
    headline: `${fileUri(vaultId, path)}: ${plural(items.length, 'entry', 'entries')}${beside}`,
    items,
    cursor: page.next,
  };
}

function lines(id: string, found: readonly string[]): Page {
  return { headline: found.length === 0 ? `no ${id}` : id, items: found.map((about) => ({ id, about })) };
}

function badCursor() {
  return invalidField('cursor', 'cursor must come from an earlier answer of this tool; omit it for the first page');
}
