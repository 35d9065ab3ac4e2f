/** Settles many conflicts with one press, and takes that back with another. */
import { z } from 'zod';
import { Refusal } from '../../../common/fault.ts';
import type { Reply } from '../../../http/reply/reply.ts';
import type { Route } from '../../../http/route/route.ts';
import { limits } from '../../../limits/service.ts';
import type { PendingConflict, Resolution } from '../../../sync/conflicts/conflicts.ts';
import { liveFile } from '../../../sync/log/file-record.ts';
import { checkPath } from '../../../sync/log/paths.ts';
import type { Sync } from '../../../sync/service.ts';
import { groupedBy } from '../../../text/grouped-by.ts';
import type { Notice } from '../../notices.ts';
import type { MemberVisit } from '../../pages.ts';
import { authorOf } from '../../visit.ts';
import { type VaultOptions, vaultOfVisit } from '../access.ts';
import { mergeSaved } from '../change/merge.ts';
import { conflictsPath } from '../paths.ts';
import { groupKeyOf, newestSide, readGrouping } from './groups.ts';

/** What is kept of each file: the newest side, the hub's, the device's, or both where they do not overlap. */
const KEEPS = ['newest', 'theirs', 'yours', 'merge'] as const;
export type Keep = (typeof KEEPS)[number];

export const SEEN_FIELD = 'seen';
const PATH = '/vaults/:vault/conflicts';

/** Value of a button: what to keep, and of which group; without a group, of all. */
export function conflictAct(keep: Keep, group?: string): string {
  return group === undefined ? keep : `${keep}:${group}`;
}

/** Names a conflict and the version on the hub that the page showed beside it. */
export function shownBeside({ id, file }: PendingConflict): string {
  return `${file?.seq ?? 0}.${id}`;
}

export function manyConflictRoutes(options: VaultOptions): Route[] {
  const { pages } = options;
  const bytesMax = limits.editFormBytesMax;
  return [
    pages.memberForm(PATH, (visit, form) => settleMany(options, visit, form), { bytesMax }),
    pages.memberForm(`${PATH}/undo`, (visit, form) => undoMany(options, visit, form), { bytesMax }),
  ];
}

/** What one path was before the act and is after it: its conflicts, and the newest versions; 0: none. */
const formerly = z.object({
  ids: z.array(z.string()),
  before: z.int().min(0),
  after: z.int().min(0),
  /** The file that keeping both made, and its version. */
  copy: z.object({ path: z.string(), seq: z.int().min(1) }).optional(),
});
const formerPaths = z.array(formerly).max(limits.conflictRowsPerPage);
/** What the choices for one path can be taken back to. */
export type Formerly = z.output<typeof formerly>;

async function settleMany(options: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, sync } = options;
  const vault = vaultOfVisit(sync, visit.accountId, visit.request.params['vault']);
  const by = readGrouping(form.get('by'));
  const [named = '', ...rest] = (form.get('act') ?? '').split(':');
  const keep = KEEPS.find((one) => one === named);
  const group = rest.length === 0 ? undefined : rest.join(':');
  const back = conflictsPath(vault.id, { by });
  if (keep === undefined) return pages.go(visit, back, { text: 'Choose what to keep.', tone: 'bad' });
  const seen = new Set(form.getAll(SEEN_FIELD));
  const asked = await askedOf(sync, visit.accountId, vault.id, seen);
  const chosen = asked.filter((conflict) => group === undefined || groupKeyOf(conflict, by) === group);
  const unchanged = chosen.filter((conflict) => seen.has(shownBeside(conflict)));
  const paths = [...groupedBy(unchanged, ({ record }) => checkPath(record.path).folded)];
  const done: Formerly[] = [];
  let settled = 0;
  // A merge is work for the pool, which shares its threads fairly: one after another.
  const width = keep === 'merge' ? 1 : paths.length;
  for (let at = 0; at < paths.length; at += Math.max(width, 1)) {
    const turn = paths
      .slice(at, at + width)
      .map(([folded, conflicts]) => settlePath(sync, visit, { vaultId: vault.id, folded, conflicts, keep }));
    for (const outcome of await Promise.all(turn)) {
      if (outcome.ids.length > 0) done.push(outcome);
      settled += outcome.ids.length;
    }
  }
  const left = chosen.length - settled;
  const text = `${counted(settled)} ${keep === 'merge' ? 'merged' : 'settled'}.`;
  return pages.go(visit, back, {
    text: left <= 0 ? text : `${text} ${keep === 'merge' ? overlapping(left) : changedSince(left)}`,
    ...undoOf(vault.id, done),
  });
}

/** The undo of choices; nothing if none was made. */
export function undoOf(vaultId: string, done: readonly Formerly[]): Pick<Notice, 'undo'> {
  if (done.length === 0) return {};
  const fields = { was: JSON.stringify(done) };
  return { undo: { label: 'Undo', action: `${conflictsPath(vaultId)}/undo`, fields } };
}

/** The conflicts of the page that still wait. */
async function askedOf(
  sync: Sync,
  accountId: string,
  vaultId: string,
  seen: ReadonlySet<string>,
): Promise<readonly PendingConflict[]> {
  const ids = new Set([...seen].map((text) => text.slice(text.indexOf('.') + 1)));
  const found: PendingConflict[] = [];
  let cursor: string | undefined;
  do {
    const query = { vaultId, path: undefined, limit: limits.conflictRowsPerPage, cursor };
    const page = await sync.conflicts.pending(accountId, query);
    found.push(...page.conflicts.filter(({ id }) => ids.has(id)));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < ids.size);
  return found.slice(0, limits.conflictRowsPerPage);
}

interface PathChoice {
  readonly vaultId: string;
  readonly folded: string;
  readonly conflicts: readonly PendingConflict[];
  readonly keep: Keep;
}

/** Settles the conflicts of one path. Those that somebody settled or changed meanwhile are left alone. */
async function settlePath(sync: Sync, visit: MemberVisit, choice: PathChoice): Promise<Formerly> {
  const { vaultId, folded, conflicts, keep } = choice;
  return await noted(sync, { vaultId, folded }, () =>
    unlessRefused(async () => {
      if (keep === 'merge') {
        for (const { id } of conflicts) await mergeSaved(sync, visit, vaultId, { conflictId: id });
        return;
      }
      const file = keep === 'newest' ? conflicts[0]?.file : undefined;
      const winner = keep === 'theirs' ? undefined : newestSide(conflicts, file);
      if (winner !== undefined) await resolve(sync, visit, vaultId, { folded, id: winner.id, side: 'yours' });
      for (const { id } of conflicts) await resolve(sync, visit, vaultId, { folded, id, side: 'theirs' });
    }),
  );
}

async function unlessRefused(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Makes choices for one path, and returns what it was before. Throws the refusals of the choices. */
export async function noted(
  { reader }: Sync,
  { vaultId, folded }: Pick<PathChoice, 'vaultId' | 'folded'>,
  choose: () => Promise<void>,
): Promise<Formerly> {
  const before = reader.file(vaultId, folded)?.seq ?? 0;
  // Settling one can settle another with the same content.
  const waiting = reader.pendingOf(vaultId, folded).map(({ id }) => id);
  await choose();
  const left = new Set(reader.pendingOf(vaultId, folded).map(({ id }) => id));
  return { ids: waiting.filter((id) => !left.has(id)), before, after: reader.file(vaultId, folded)?.seq ?? 0 };
}

interface OneChoice {
  readonly folded: string;
  readonly id: string;
  readonly side: Extract<Resolution['side'], 'yours' | 'theirs'>;
}

/** Settles one conflict against the version that is current, if it still waits. */
async function resolve(sync: Sync, visit: MemberVisit, vaultId: string, { folded, id, side }: OneChoice) {
  if (sync.reader.conflict(vaultId, id).record.status !== 'pending') return;
  const baseSha = liveFile(sync.reader.file(vaultId, folded))?.sha256 ?? '';
  const deviceId = authorOf(visit);
  await sync.conflicts.resolve(visit.accountId, { vaultId, conflictId: id, keep: { side }, baseSha, deviceId });
}

/** Gives back what the files were, and lets their conflicts wait again; what changed since is left alone. */
async function undoMany({ pages, sync }: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const vault = vaultOfVisit(sync, visit.accountId, visit.request.params['vault']);
  const back = conflictsPath(vault.id);
  const was = readFormer(form.get('was'));
  const undone = await Promise.all(was.map((one) => undoPath(sync, visit, vault.id, one)));
  const left = undone.filter((isUndone) => !isUndone).length;
  const waiting = was.flatMap(({ ids }, at) => (undone[at] === true ? ids : [])).length;
  return pages.go(visit, back, {
    text: `${counted(waiting)} waiting again.${left === 0 ? '' : ` ${changedSince(left)}`}`,
    ...(left === 0 ? {} : { tone: 'bad' }),
  });
}

function readFormer(text: string | null): readonly Formerly[] {
  let given: unknown;
  try {
    given = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  return formerPaths.safeParse(given).data ?? [];
}

async function undoPath(sync: Sync, visit: MemberVisit, vaultId: string, was: Formerly): Promise<boolean> {
  const { accountId } = visit;
  const { reader, history, conflicts } = sync;
  const { ids, before, after } = was;
  try {
    const path = ids[0] === undefined ? undefined : reader.conflict(vaultId, ids[0]).record.path;
    if (path === undefined) return false;
    const file = reader.file(vaultId, checkPath(path).folded);
    if ((file?.seq ?? 0) !== after) return false;
    if (after !== before && file !== undefined) {
      const earlier = before === 0 ? undefined : reader.versionMeta(vaultId, before);
      const request = { path: file.path, vaultId, baseSha: liveFile(file)?.sha256 ?? '', deviceId: authorOf(visit) };
      if (earlier?.type === 'file') await history.restore(accountId, { ...request, seq: before, respells: true });
      else await history.remove(accountId, request);
    }
    for (const id of ids) await conflicts.reopen(accountId, vaultId, id);
    if (was.copy !== undefined) await undoCopy(sync, visit, vaultId, was.copy);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Deletes the copy that keeping both made, unless somebody changed it since: its bytes wait again as a conflict. */
async function undoCopy(
  { reader, history }: Sync,
  visit: MemberVisit,
  vaultId: string,
  { path, seq }: NonNullable<Formerly['copy']>,
): Promise<void> {
  const file = liveFile(reader.file(vaultId, checkPath(path).folded));
  if (file?.seq !== seq) return;
  await history.remove(visit.accountId, { path, vaultId, baseSha: file.sha256, deviceId: authorOf(visit) });
}

function counted(count: number): string {
  return count === 1 ? '1 conflict' : `${count} conflicts`;
}

function overlapping(left: number): string {
  return left === 1 ? '1 overlaps and waits for you.' : `${left} overlap and wait for you.`;
}

function changedSince(left: number): string {
  return left === 1 ? '1 changed since, and was left alone.' : `${left} changed since, and were left alone.`;
}
