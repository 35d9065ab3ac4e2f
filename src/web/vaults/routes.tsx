/** The pages and forms of vaults: files, versions, conflicts. */
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import { CutSearch, type Problem, searchWords } from '../fields.tsx';
import type { MemberVisit, PageAnswer } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { authorOf } from '../visit.ts';
import { type VaultOptions, vaultOfVisit } from './access.ts';
import { archiveRoute } from './archive/routes.ts';
import type { VaultAct } from './change/act.ts';
import { changeRoutes } from './change/routes.tsx';
import { clearHistory, SpaceUsed } from './change/space.tsx';
import { deleteVault, renameVault, VaultItself, vaultNameIn } from './change/vault.tsx';
import { conflictRoutes } from './conflicts/routes.tsx';
import { fileRoutes } from './file-routes.tsx';
import { findFiles, readSeq, vaultFileOf, vaultFolderOf } from './files.ts';
import { FolderContents, FoundPage } from './folder.tsx';
import { VaultList } from './list.tsx';
import { pastRoutes, showPast } from './past/routes.tsx';
import { filePath, vaultPath } from './paths.ts';

const PATH = '/vaults';

export function vaultRoutes(options: VaultOptions): Route[] {
  const { pages, sync } = options;
  return [
    pages.member(PATH, (visit) => showVaults(options, visit)),
    pages.memberForm(PATH, async (visit, form) => {
      const name = form.get('name') ?? '';
      const tried = await problemOf('vault', { name }, () =>
        sync.vaults.create(visit.accountId, vaultNameIn(form), undefined),
      );
      if (!tried.ok) return showVaults(options, visit, tried.problem);
      const { id, status } = tried.value;
      return pages.go(visit, vaultPath(id), {
        text: status === 'created' ? 'Vault created.' : 'This vault already exists.',
      });
    }),
    pages.member(`${PATH}/:vault`, (visit) => showFiles(options, visit)),
    ...fileRoutes(options),
    archiveRoute(options),
    ...changeRoutes(options),
    pages.memberForm(`${PATH}/:vault/restore`, (visit, form) => restore(options, visit, form)),
    vaultForm(options, 'history', clearHistory),
    vaultForm(options, 'name', renameVault),
    vaultForm(options, 'end', deleteVault),
    ...pastRoutes(options),
    ...conflictRoutes(options),
  ];
}

/** A form on the page of a vault. A refused one shows the page again, with its errors. */
function vaultForm(options: VaultOptions, name: string, act: VaultAct): Route {
  return options.pages.memberForm(`${PATH}/:vault/${name}`, async (visit, form) => {
    const vault = vaultOfVisit(options.sync, visit.accountId, visit.request.params['vault']);
    return await act(options, { visit, form, vault, show: (problem) => showFiles(options, visit, problem) });
  });
}

function showVaults({ pages, sync }: VaultOptions, visit: MemberVisit, problem?: Problem): PageAnswer {
  return pages.show(visit, {
    title: 'Vaults',
    section: 'vaults',
    problem,
    body: <VaultList visit={visit} vaults={sync.vaults.list(visit.accountId)} problem={problem} />,
  });
}

/** Shows a folder, or the results of a search. */
async function showFiles(options: VaultOptions, visit: MemberVisit, problem?: Problem): Promise<Reply> {
  const { pages, sync } = options;
  const { accountId, request } = visit;
  const vault = vaultOfVisit(sync, accountId, request.params['vault']);
  const search = searchWords(request.query, limits.searchCharsMax);
  const after = placeOf(request.query.get('after'));
  const at = request.query.get('at');
  if (at !== null) return await showPast(options, visit, { vault, at, after });
  if (search === '') return await showFolder(options, visit, { vault, after, problem });
  const found = await findFiles(
    sync,
    { accountId, vaultId: vault.id },
    { search, after, limit: limits.fileRowsPerPage },
  );
  return pages.show(visit, {
    title: vault.record.name,
    section: 'vaults',
    body: (
      <>
        <CutSearch query={request.query} charsMax={limits.searchCharsMax} />
        <FoundPage visit={visit} vault={vault} search={search} {...found} />
      </>
    ),
  });
}

interface Shown {
  readonly vault: VaultState;
  readonly after: string | undefined;
  readonly problem: Problem | undefined;
}

async function showFolder(
  { pages, sync }: VaultOptions,
  visit: MemberVisit,
  { vault, after, problem }: Shown,
): Promise<Reply> {
  const { path: folder, folded } = vaultFolderOf(visit.request.query.get('folder') ?? '');
  const { folders } = sync.reading;
  const of = { accountId: visit.accountId, vaultId: vault.id };
  const historyBytes = vault.head.kept_bytes - sync.reader.usageOf(vault.id);
  const page = await folders.list(of, { folder: folded, after, limit: limits.fileRowsPerPage });
  const sums = await folders.sums(of, page.folders);
  return pages.show(visit, {
    title: folder === '' ? vault.record.name : folder,
    section: 'vaults',
    live: ['vaults'],
    status: problem !== undefined ? 422 : folders.has(vault.id, folded) ? 200 : 404,
    body: (
      <>
        <FolderContents visit={visit} vault={vault} folder={folder} page={page} sums={sums} />
        {folder === '' ? <SpaceUsed visit={visit} vault={vault} historyBytes={historyBytes} problem={problem} /> : null}
        {folder === '' ? <VaultItself visit={visit} vault={vault} problem={problem} /> : null}
      </>
    ),
  });
}

/** The start of a page of files; undefined when missing or longer than any path. */
function placeOf(given: string | null): string | undefined {
  return given === null || Buffer.byteLength(given) > 2 * limits.pathBytesMax ? undefined : given;
}

async function restore({ pages, sync }: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { accountId, request } = visit;
  const { id: vaultId } = vaultOfVisit(sync, accountId, request.params['vault']);
  // The undo form has its fields in its address.
  const field = (name: string) => form.get(name) ?? request.query.get(name);
  const path = field('path') ?? '';
  const seq = readSeq(field('seq')) ?? 0;
  const tried = await problemOf('restore', {}, () =>
    sync.history.restore(accountId, {
      vaultId,
      path,
      seq,
      baseSha: field('base') ?? undefined,
      deviceId: authorOf(visit),
    }),
  );
  const numbers = tried.ok
    ? await sync.history.numbersOf(accountId, vaultId, vaultFileOf(sync, vaultId, path))
    : undefined;
  return pages.go(
    visit,
    filePath(vaultId, path),
    numbers !== undefined
      ? { text: `Version ${numbers.get(seq)} was restored.` }
      : {
          text: 'The file changed after you opened this page, so nothing was saved. Check it and try again.',
          tone: 'bad',
        },
  );
}
