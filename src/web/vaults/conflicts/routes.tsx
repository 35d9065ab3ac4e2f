/** The pages and forms of conflicts: the list of pending ones, both versions of one, and its resolution. */
import { invalidField } from '../../../common/fault.ts';
import type { Reply } from '../../../http/reply/reply.ts';
import type { Route } from '../../../http/route/route.ts';
import { limits } from '../../../limits/service.ts';
import type { Resolution } from '../../../sync/conflicts/conflicts.ts';
import type { ConflictSides, SideContent } from '../../../sync/conflicts/sides.ts';
import { checkPath } from '../../../sync/log/paths.ts';
import { fromForm, hasConflictMarks, type Newline, newlineOf, textContentOf } from '../../../text/text-content.ts';
import type { Problem } from '../../fields.tsx';
import type { MemberVisit } from '../../pages.ts';
import { problemOf } from '../../problem.ts';
import { authorOf } from '../../visit.ts';
import { attachment, download, type VaultOptions, vaultOfVisit } from '../access.ts';
import { type RenderedDiff, renderDiff } from '../compare/diff-table.tsx';
import { sideBySide } from '../compare/side-by-side.ts';
import { conflictPath, vaultPath } from '../paths.ts';
import { readGrouping } from './groups.ts';
import { ConflictList } from './list.tsx';
import { type Formerly, manyConflictRoutes, noted, undoOf } from './many.ts';
import { type Overlap, overlapsIn } from './overlaps.ts';
import { ConflictPage, sideNames } from './page.tsx';

const PATH = '/vaults/:vault/conflicts';

export function conflictRoutes(options: VaultOptions): Route[] {
  const { pages, sync } = options;
  return [
    pages.member(PATH, async (visit) => {
      const vault = vaultOfVisit(sync, visit.accountId, visit.request.params['vault']);
      const cursor = visit.request.query.get('cursor') ?? undefined;
      const query = { vaultId: vault.id, path: undefined, limit: limits.conflictRowsPerPage, cursor };
      const { conflicts, cursor: next } = await sync.conflicts.pending(visit.accountId, query);
      const by = readGrouping(visit.request.query.get('by'));
      const body = <ConflictList visit={visit} vault={vault} conflicts={conflicts} by={by} cursor={next} />;
      return pages.show(visit, { title: 'Conflicts', section: 'vaults', live: ['vaults'], body });
    }),
    ...manyConflictRoutes(options),
    pages.member(`${PATH}/:conflict`, (visit) => showConflict(options, visit)),
    pages.memberForm(`${PATH}/:conflict`, (visit, form) => settle(options, visit, form), {
      bytesMax: limits.editFormBytesMax,
    }),
    ...(['yours', 'theirs'] as const).map((side) =>
      pages.member(`${PATH}/:conflict/${side}`, (visit) => {
        const { sides } = conflictOf(options, visit);
        const { path } = sides.conflict.record;
        const content = side === 'yours' ? sides.yours : sides.current?.content;
        if (content?.source !== undefined) return download(path, content.source);
        const file = { path, sizeBytes: content?.sizeBytes ?? 0 };
        return attachment(options, visit, file, () => content?.bytes);
      }),
    ),
  ];
}

function conflictOf({ sync }: VaultOptions, { accountId, request }: MemberVisit) {
  const vault = vaultOfVisit(sync, accountId, request.params['vault']);
  return { vault, sides: sync.conflicts.sides(accountId, vault.id, request.params['conflict'] ?? '') };
}

async function showConflict(options: VaultOptions, visit: MemberVisit, problem?: Problem): Promise<Reply> {
  const { pages } = options;
  const { vault, sides } = conflictOf(options, visit);
  if (sides.conflict.record.status !== 'pending') {
    return pages.go(visit, vaultPath(vault.id), { text: 'This conflict is already resolved.' });
  }
  const draft = await draftOf(options, visit, vault.id, sides);
  const diff = await diffOf(options, visit.accountId, sides);
  const next = await nextAfter(options, visit.accountId, vault.id, sides.conflict.id);
  const overlaps =
    draft === undefined || draft.isClean ? [] : await overlapsOf(options, visit.accountId, vault.id, sides);
  const body = { visit, vault, sides, diff, overlaps, draft, next, problem };
  return pages.show(visit, {
    title: `Conflict: ${sides.conflict.record.path}`,
    section: 'vaults',
    live: ['vaults'],
    problem,
    body: <ConflictPage {...body} />,
  });
}

/** Path of the next pending conflict, wrapping around at the end; undefined: there is no other. */
async function nextAfter(
  { sync }: VaultOptions,
  accountId: string,
  vaultId: string,
  conflictId: string,
): Promise<string | undefined> {
  const query = { vaultId, path: undefined, limit: limits.conflictsMax, cursor: undefined };
  const ids = (await sync.conflicts.pending(accountId, query)).conflicts.map(({ id }) => id);
  const next = ids[(ids.indexOf(conflictId) + 1) % ids.length];
  return next === undefined || next === conflictId ? undefined : conflictPath(vaultId, next);
}

async function diffOf(
  { sync }: VaultOptions,
  accountId: string,
  sides: ConflictSides,
): Promise<RenderedDiff | undefined> {
  const theirs = shortText(sides.current?.content);
  const mine = shortText(sides.yours);
  if (theirs === undefined || mine === undefined) return undefined;
  const diff = await sync.comparer.diff(
    {
      before: theirs,
      after: mine,
      beforeName: 'theirs',
      afterName: 'mine',
      contextLines: limits.diffContextLines,
    },
    accountId,
  );
  return await renderDiff(sideBySide(diff, limits.diffRowsMax), accountId);
}

/** The merge of both sides, if they are texts short enough to edit in a form. */
async function draftOf({ sync }: VaultOptions, visit: MemberVisit, vaultId: string, sides: ConflictSides) {
  const mine = shortText(sides.yours);
  if (mine === undefined || shortText(sides.current?.content) === undefined) return undefined;
  const request = { vault_id: vaultId, conflict_id: sides.conflict.id, labels: sideNames(visit, sides) };
  const { content, conflicts } = await sync.merges.merge(visit.accountId, request);
  const text = content?.encoding === 'utf-8' ? content.text : undefined;
  if (text === undefined || Buffer.byteLength(text) > limits.editedTextBytesMax) return undefined;
  return { text, newline: newlineOf(mine), isClean: conflicts === 0 };
}

/** The places that both sides changed; none if the version before both is not known. */
async function overlapsOf(
  { sync }: VaultOptions,
  accountId: string,
  vaultId: string,
  { conflict: { id } }: ConflictSides,
): Promise<readonly Overlap[]> {
  const request = { vault_id: vaultId, conflict_id: id, style: 'diff3', labels: { yours: id, hub: id } } as const;
  const { content, ancestorSha } = await sync.merges.merge(accountId, request);
  return ancestorSha === undefined || content === undefined ? [] : overlapsIn(content.text, id);
}

function shortText(content: SideContent | undefined): string | undefined {
  const bytes = content?.bytes;
  return bytes === undefined || bytes.length > limits.editedTextBytesMax ? undefined : textContentOf(bytes);
}

async function settle(options: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, sync } = options;
  const { vault, sides } = conflictOf(options, visit);
  const { id: conflictId, record } = sides.conflict;
  const next = await nextAfter(options, visit.accountId, vault.id, conflictId);
  let done: readonly Formerly[] = [];
  let copy: string | undefined;
  const tried = await problemOf('edit', { content: form.get('content') ?? '' }, async () => {
    const keep = readKeep(form);
    const place = { vaultId: vault.id, folded: checkPath(record.path).folded };
    const was = await noted(sync, place, async () => {
      const baseSha = form.get('base') ?? '';
      const deviceId = authorOf(visit);
      const asked = { vaultId: vault.id, conflictId, keep, baseSha, deviceId };
      ({ copy } = await sync.conflicts.resolve(visit.accountId, asked));
    });
    const made = copy === undefined ? undefined : sync.reader.file(vault.id, checkPath(copy).folded);
    done = was.ids.length === 0 ? [] : [{ ...was, copy: made && { path: made.path, seq: made.seq } }];
  });
  if (!tried.ok) return await showConflict(options, visit, inPlainWords(tried.problem, form.get('keep') === 'edited'));
  return pages.go(visit, next ?? vaultPath(vault.id), {
    text: `The conflict in “${record.path}” is resolved.${copy === undefined ? '' : ` The other version is “${copy}”.`}${next === undefined ? '' : ' This is the next one.'}`,
    ...undoOf(vault.id, done),
  });
}

function readKeep(form: URLSearchParams): Resolution {
  const keep = form.get('keep');
  if (keep === 'yours' || keep === 'theirs' || keep === 'both') return { side: keep };
  if (keep !== 'edited') throw invalidField('keep', 'Choose which version to keep.');
  const newline: Newline = form.get('newline') === 'crlf' ? 'crlf' : 'lf';
  const text = fromForm(form.get('content') ?? '', newline);
  if (hasConflictMarks(text)) {
    throw invalidField(
      'content',
      'The text still contains conflict markers. Edit those lines, then delete the markers.',
    );
  }
  return { side: 'edited', text, encoding: 'utf-8' };
}

/**
 * Explains an outdated base in plain words. Entered text is shown again only if it came from the editor: otherwise the
 * current version may be a different one now.
 */
function inPlainWords(problem: Problem, isEdited: boolean): Problem {
  const fields =
    problem.fields['base_sha'] === undefined
      ? problem.fields
      : {
          base: ['The file changed after you opened this page. The current versions are shown below; choose again.'],
        };
  return { ...problem, fields, values: isEdited ? problem.values : {} };
}
