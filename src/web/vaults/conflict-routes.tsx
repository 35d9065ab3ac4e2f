/** The pages and forms of conflicts: which are pending, both sides of one, and settling it. */
import { invalidField } from '../../common/fault.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { attachment, type VaultOptions, vaultOf } from './access.ts';
import { ConflictPage } from './conflict.tsx';
import { ConflictList } from './list.tsx';
import { vaultPath } from './paths.ts';
import type { ConflictSides, KeptSide } from './services.ts';
import { type SideBySide, sideBySide } from './side-by-side.ts';
import { fromForm, hasConflictMarks, type Newline, newlineOf, textOf } from './text-content.ts';

const PATH = '/vaults/:vault/conflicts';

export function conflictRoutes(options: VaultOptions): Route[] {
  const { pages, vaults } = options;
  return [
    pages.member(PATH, async (visit) => {
      const vault = vaultOf(vaults, visit.accountId, visit.request.params['vault']);
      const cursor = visit.request.query.get('cursor') ?? undefined;
      const query = { vaultId: vault.id, limit: limits.conflictRowsPerPage, cursor };
      const page = await vaults.conflicts(visit.accountId, query);
      const body = <ConflictList visit={visit} vault={vault} {...page} />;
      return pages.show(visit, { title: 'Conflicts', section: 'vaults', body });
    }),
    pages.member(`${PATH}/:conflict`, (visit) => showConflict(options, visit)),
    pages.memberForm(`${PATH}/:conflict`, (visit, form) => settle(options, visit, form), {
      bytesMax: limits.editFormBytesMax,
    }),
    ...(['yours', 'theirs'] as const).map((side) =>
      pages.member(`${PATH}/:conflict/${side}`, (visit) => {
        const { sides } = conflictOf(options, visit);
        const bytes = side === 'yours' ? sides.yours : sides.current?.bytes;
        return attachment(options.downloads, bytes?.length ?? 0, () => bytes);
      }),
    ),
  ];
}

function conflictOf({ vaults }: VaultOptions, { accountId, request }: MemberVisit) {
  const vault = vaultOf(vaults, accountId, request.params['vault']);
  return { vault, sides: vaults.sides(accountId, vault.id, request.params['conflict'] ?? '') };
}

async function showConflict(options: VaultOptions, visit: MemberVisit, problem?: Problem): Promise<Reply> {
  const { pages, vaults } = options;
  const { vault, sides } = conflictOf(options, visit);
  if (sides.conflict.status !== 'pending') {
    return pages.go(visit, vaultPath(vault.id), { text: 'This conflict is settled already.' });
  }
  const draft = await draftOf(options, visit.accountId, vault.id, sides);
  const body = { visit, vault, sides, diff: await diffOf(vaults, sides), draft, problem };
  return pages.show(visit, {
    title: `Conflict: ${sides.conflict.path}`,
    section: 'vaults',
    status: problem === undefined ? 200 : 422,
    body: <ConflictPage {...body} />,
  });
}

async function diffOf(vaults: VaultOptions['vaults'], sides: ConflictSides): Promise<SideBySide | undefined> {
  const theirs = shortText(sides.current?.bytes);
  const mine = shortText(sides.yours);
  if (theirs === undefined || mine === undefined) return undefined;
  return sideBySide(await vaults.diff(theirs, mine), limits.diffRowsMax);
}

/** Both sides merged, where that is a text short enough to be edited in a form. */
async function draftOf({ vaults }: VaultOptions, accountId: string, vaultId: string, sides: ConflictSides) {
  const mine = shortText(sides.yours);
  if (mine === undefined || shortText(sides.current?.bytes) === undefined) return undefined;
  const text = await vaults.merged(accountId, vaultId, sides.conflict.id);
  if (text === undefined || Buffer.byteLength(text) > limits.editedTextBytesMax) return undefined;
  return { text, newline: newlineOf(mine) };
}

function shortText(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined || bytes.length > limits.editedTextBytesMax ? undefined : textOf(bytes);
}

async function settle(options: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, vaults } = options;
  const { vault, sides } = conflictOf(options, visit);
  const { id: conflictId, path } = sides.conflict;
  const tried = await problemOf('edit', { content: form.get('content') ?? '' }, async () => {
    const keep = readKeep(form);
    await vaults.resolve(visit.accountId, {
      vaultId: vault.id,
      conflictId,
      keep,
      baseSha: form.get('base') ?? '',
    });
  });
  if (!tried.ok) return await showConflict(options, visit, inPlainWords(tried.problem, form.get('keep') === 'edited'));
  const rest = (await vaults.conflicts(visit.accountId, { vaultId: vault.id, limit: 1, cursor: undefined })).conflicts;
  const next = rest.length === 0 ? vaultPath(vault.id) : `${vaultPath(vault.id)}/conflicts`;
  return pages.go(visit, next, { text: `The conflict of “${path}” is settled.` });
}

function readKeep(form: URLSearchParams): KeptSide {
  const keep = form.get('keep');
  if (keep === 'yours' || keep === 'theirs') return { side: keep };
  if (keep !== 'edited') throw invalidField('keep', 'Choose which side stays.');
  const newline: Newline = form.get('newline') === 'crlf' ? 'crlf' : 'lf';
  const text = fromForm(form.get('content') ?? '', newline);
  if (hasConflictMarks(text)) {
    throw invalidField(
      'content',
      'Marks of the merge still stand in the text. Keep what is right and remove the marks.',
    );
  }
  return { side: 'edited', text, encoding: 'utf-8' };
}

/** What was typed is shown again only where the editor was used; another side may be what is current by now. */
function inPlainWords(problem: Problem, isEdited: boolean): Problem {
  const fields =
    problem.fields['base_sha'] === undefined
      ? problem.fields
      : {
          base: [
            'The file has changed since this page was opened. Both sides are shown as they are now; choose again.',
          ],
        };
  return { ...problem, fields, values: isEdited ? problem.values : {} };
}
