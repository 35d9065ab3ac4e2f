/** The pages and forms of vaults: files, versions, conflicts. */
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { attachment, type VaultOptions, vaultOf } from './access.ts';
import { conflictRoutes } from './conflict-routes.tsx';
import { FilePage, type Shown } from './file.tsx';
import { FileList, VaultList } from './list.tsx';
import { filePath, vaultPath } from './paths.ts';
import { textOf } from './text-content.ts';

const PATH = '/vaults';

export function vaultRoutes(options: VaultOptions): Route[] {
  const { pages, vaults } = options;
  return [
    pages.member(PATH, (visit) => showVaults(options, visit)),
    pages.memberForm(PATH, async (visit, form) => {
      const name = form.get('name') ?? '';
      const tried = await problemOf('vault', { name }, () => vaults.create(visit.accountId, name));
      if (!tried.ok) return showVaults(options, visit, tried.problem);
      const { id, isNew } = tried.value;
      return pages.go(visit, vaultPath(id), {
        text: isNew ? 'The vault is made.' : 'There is a vault of that name: this one.',
      });
    }),
    pages.member(`${PATH}/:vault`, (visit) => showFiles(options, visit)),
    pages.member(`${PATH}/:vault/file`, (visit) => showFile(options, visit)),
    pages.member(`${PATH}/:vault/bytes`, ({ accountId, request }) => {
      const { id } = vaultOf(vaults, accountId, request.params['vault']);
      const path = request.query.get('path') ?? '';
      const seq = readSeq(request.query.get('seq')) ?? vaults.file(accountId, id, path).seq;
      const { sizeBytes, content } = vaults.version(accountId, id, path, seq);
      return attachment(options.downloads, sizeBytes, content);
    }),
    pages.memberForm(`${PATH}/:vault/restore`, (visit, form) => restore(options, visit, form)),
    ...conflictRoutes(options),
  ];
}

function showVaults({ pages, vaults }: VaultOptions, visit: MemberVisit, problem?: Problem): Reply {
  return pages.show(visit, {
    title: 'Vaults',
    section: 'vaults',
    status: problem === undefined ? 200 : 422,
    body: <VaultList visit={visit} vaults={vaults.list(visit.accountId)} problem={problem} />,
  });
}

async function showFiles({ pages, vaults }: VaultOptions, visit: MemberVisit): Promise<Reply> {
  const { accountId, request } = visit;
  const vault = vaultOf(vaults, accountId, request.params['vault']);
  const search = (request.query.get('q') ?? '').trim().slice(0, limits.searchCharsMax);
  const after = request.query.get('after') ?? undefined;
  const found = await vaults.files(accountId, vault.id, { search, after, limit: limits.fileRowsPerPage });
  return pages.show(visit, {
    title: vault.name,
    section: 'vaults',
    body: <FileList visit={visit} vault={vault} search={search} {...found} />,
  });
}

async function showFile({ pages, vaults }: VaultOptions, visit: MemberVisit): Promise<Reply> {
  const { accountId, request } = visit;
  const { query } = request;
  const vault = vaultOf(vaults, accountId, request.params['vault']);
  const file = vaults.file(accountId, vault.id, query.get('path') ?? '');
  const seq = readSeq(query.get('seq')) ?? file.seq;
  const { sizeBytes, content } = vaults.version(accountId, vault.id, file.path, seq);
  const shown: Shown = sizeBytes > limits.shownFileBytesMax ? { kind: 'large' } : shownOf(content());
  const { versions, hasMore } = await vaults.history(accountId, {
    vaultId: vault.id,
    path: file.path,
    limit: limits.versionRowsPerPage,
    before: readSeq(query.get('before')),
  });
  const older = hasMore ? versions.at(-1)?.seq : undefined;
  const body = { visit, vault, file, seq, shown, versions, older };
  return pages.show(visit, { title: file.path, section: 'vaults', body: <FilePage {...body} /> });
}

function shownOf(bytes: Uint8Array | undefined): Shown {
  if (bytes === undefined) return { kind: 'deleted' };
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'binary' };
  const isCut = text.length > limits.shownTextCharsMax;
  return { kind: 'text', text: isCut ? text.slice(0, limits.shownTextCharsMax) : text, isCut };
}

async function restore({ pages, vaults }: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { accountId, request } = visit;
  const { id: vaultId } = vaultOf(vaults, accountId, request.params['vault']);
  const path = form.get('path') ?? '';
  const seq = readSeq(form.get('seq')) ?? 0;
  const tried = await problemOf('restore', {}, () =>
    vaults.restore(accountId, { vaultId, path, seq, baseSha: form.get('base') ?? undefined }),
  );
  return pages.go(
    visit,
    filePath(vaultId, path),
    tried.ok
      ? { text: `Version ${seq} is the newest one again.` }
      : { text: 'The file changed while you looked at it, so nothing was done. Look again.', tone: 'bad' },
  );
}

function readSeq(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
