/** The pages and forms that change files: create, edit, upload, rename, delete, and undo. */
import { hash } from 'node:crypto';
import { invalidField, Refusal } from '../../../common/fault.ts';
import type { Reply } from '../../../http/reply/reply.ts';
import type { Route } from '../../../http/route/route.ts';
import { limits } from '../../../limits/service.ts';
import { checkPath } from '../../../sync/log/paths.ts';
import type { Vault } from '../../../sync/vaults/vaults.ts';
import { fromForm, newlineOf, textContentOf } from '../../../text/text-content.ts';
import type { Problem } from '../../fields.tsx';
import type { Notice } from '../../notices.ts';
import type { MemberVisit, PageAnswer } from '../../pages.ts';
import { problemOf } from '../../problem.ts';
import { authorOf } from '../../visit.ts';
import { type VaultOptions, vaultOfVisit } from '../access.ts';
import { showFile } from '../file-routes.tsx';
import { readSeq, vaultFileOf, versionOf } from '../files.ts';
import { conflictPath, filePath, folderPath, parentOf, vaultPath } from '../paths.ts';
import { EditPage } from './edit.tsx';
import { mergeSaved } from './merge.ts';
import { type Newer, newerThan } from './newer.tsx';
import { type Changed, renameFile, writeFile } from './push.ts';
import { takeUpload } from './upload.ts';

const PATH = '/vaults/:vault';

export function changeRoutes(options: VaultOptions): Route[] {
  const { pages } = options;
  return [
    pages.member(`${PATH}/new`, (visit) => {
      const folder = visit.request.query.get('folder') ?? '';
      const path = folder === '' ? '' : `${checkPath(folder, 'folder').path}/`;
      return showEdit(options, visit, { path, base: '', text: '' });
    }),
    pages.member(`${PATH}/edit`, async (visit) => showEdit(options, visit, await openedText(options, visit))),
    pages.memberForm(`${PATH}/save`, (visit, form) => save(options, visit, form), {
      bytesMax: limits.editFormBytesMax,
    }),
    pages.memberForm(`${PATH}/rename`, (visit, form) => rename(options, visit, form)),
    pages.memberForm(`${PATH}/delete`, (visit, form) => remove(options, visit, form)),
    pages.memberUpload(`${PATH}/upload`, (visit, upload) =>
      takeUpload(options, visit, vaultFor(options, visit), upload),
    ),
  ];
}

function vaultFor({ sync }: VaultOptions, { accountId, request }: MemberVisit): Vault {
  return vaultOfVisit(sync, accountId, request.params['vault']);
}

interface Edited {
  readonly path: string;
  readonly base: string;
  readonly text: string;
  readonly seq?: number | undefined;
  readonly newer?: Newer | undefined;
}

function showEdit(options: VaultOptions, visit: MemberVisit, edited: Edited, problem?: Problem): PageAnswer {
  const vault = vaultFor(options, visit);
  const body = { visit, vault, ...edited, newline: newlineOf(edited.text), problem };
  return options.pages.show(visit, {
    title: edited.base === '' ? 'New file' : `Edit ${edited.path}`,
    section: 'vaults',
    // The address names the version, so a page that is rendered again has the same text, and news above it.
    ...(edited.seq !== undefined && { live: ['vaults'] as const }),
    problem,
    body: <EditPage {...body} />,
  });
}

/**
 * The text of the version in the query, by default the current one. Throws Refusal `invalid_fields` if it is binary or too
 * long for a form, `not_found` if the version is no longer kept.
 */
async function openedText(options: VaultOptions, visit: MemberVisit): Promise<Edited> {
  const { sync } = options;
  const { query } = visit.request;
  const { id } = vaultFor(options, visit);
  const file = vaultFileOf(sync, id, query.get('path') ?? '');
  const asked = readSeq(query.get('seq'));
  const { sizeBytes, content } = versionOf(sync, id, file, asked ?? file.seq);
  const bytes = sizeBytes <= limits.editedTextBytesMax ? content() : undefined;
  const text = bytes && textContentOf(bytes);
  if (bytes === undefined || text === undefined) {
    throw invalidField('path', 'This file cannot be edited here: it is binary, or too long.');
  }
  const base = hash('sha256', bytes);
  const newer = asked === undefined ? undefined : await newerThan(options, visit, id, { file, seq: asked, base });
  return { path: file.path, base, text, seq: asked, newer };
}

async function save(options: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, sync } = options;
  const { id: vaultId } = vaultFor(options, visit);
  const [path, base, content] = [form.get('path') ?? '', form.get('base') ?? '', form.get('content') ?? ''];
  const text = fromForm(content, form.get('newline') === 'crlf' ? 'crlf' : 'lf');
  const before = base === '' ? undefined : vaultFileOf(sync, vaultId, path);
  const tried = await problemOf('edit', { path, content }, () =>
    writeFile(sync, visit, { vaultId, path, base }, Buffer.from(text)),
  );
  if (!tried.ok) return showEdit(options, visit, { path, base, text }, tried.problem);
  if (tried.value.kind === 'conflict') {
    const merged = await mergeSaved(sync, visit, vaultId, tried.value.conflict);
    return merged === undefined
      ? toConflict(options, visit, vaultId, tried.value)
      : pages.go(visit, filePath(vaultId, merged.path), {
          text: `Saved, and merged with a change by ${merged.by}.`,
          undo: undoTo(vaultId, merged.path, merged.seq, merged.sha256),
        });
  }
  const { record, status } = tried.value.result;
  const undo =
    before === undefined || status !== 'updated' ? undefined : undoTo(vaultId, path, before.seq, record.sha256);
  const text200 = status === 'unchanged' ? 'Nothing changed.' : status === 'created' ? 'File created.' : 'File saved.';
  return pages.go(visit, filePath(vaultId, record.path), { text: text200, ...(undo && { undo }) });
}

/** Redirects to the conflict that stores the change, next to the newer version. */
function toConflict(
  { pages }: VaultOptions,
  visit: MemberVisit,
  vaultId: string,
  { conflict }: Extract<Changed, { kind: 'conflict' }>,
): Reply {
  const { conflictId, path } = conflict;
  if (conflictId === null) throw new Refusal(conflict);
  return pages.go(visit, conflictPath(vaultId, conflictId), {
    text: `“${path}” was changed elsewhere since you opened it. Your version is kept here. Choose which to keep, or merge them.`,
    tone: 'bad',
  });
}

async function rename(options: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, sync } = options;
  const { id: vaultId } = vaultFor(options, visit);
  // The undo form has its fields in its address.
  const field = (name: string) => form.get(name) ?? visit.request.query.get(name) ?? '';
  const [path, base, to] = [field('path'), field('base'), field('to').trim()];
  const tried = await problemOf('rename', { to }, () => renameFile(sync, visit, { vaultId, path, base }, to));
  if (!tried.ok) return await showFile(options, visit, { path, problem: tried.problem });
  const changed = tried.value;
  if (changed.kind === 'conflict') return failed(options, visit, filePath(vaultId, path), STALE);
  const back = new URLSearchParams({ path: changed.result.record.path, base: changed.result.record.sha256, to: path });
  return pages.go(visit, filePath(vaultId, changed.result.record.path), {
    text: `Renamed from “${path}”.`,
    undo: { label: 'Undo', action: `${vaultPath(vaultId)}/rename?${back}` },
  });
}

const STALE: Pick<Problem, 'fields'> = {
  fields: { path: ['Something changed since you opened this page, so nothing was done. Look again, then repeat.'] },
};

function failed({ pages }: VaultOptions, visit: MemberVisit, path: string, { fields }: Pick<Problem, 'fields'>): Reply {
  return pages.go(visit, path, { text: Object.values(fields).flat().join(' '), tone: 'bad' });
}

async function remove(options: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, sync } = options;
  const { id: vaultId } = vaultFor(options, visit);
  const [path, base] = [form.get('path') ?? '', form.get('base') ?? ''];
  const { seq } = vaultFileOf(sync, vaultId, path);
  const tried = await problemOf('delete', {}, () =>
    sync.history.remove(visit.accountId, { vaultId, path, baseSha: base, deviceId: authorOf(visit) }),
  );
  if (!tried.ok) return failed(options, visit, filePath(vaultId, path), STALE);
  return pages.go(visit, folderPath(vaultId, parentOf(path)), {
    text: `“${path}” was deleted. Its history is kept.`,
    undo: undoTo(vaultId, path, seq, ''),
  });
}

/** An undo that restores an earlier version, unless the file was changed again since. */
function undoTo(vaultId: string, path: string, seq: number, base: string): NonNullable<Notice['undo']> {
  const query = new URLSearchParams({ path, seq: String(seq), base });
  return { label: 'Undo', action: `${vaultPath(vaultId)}/restore?${query}` };
}
