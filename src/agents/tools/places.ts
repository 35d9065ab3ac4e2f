/** Declares the tools that move and remove things, and settle conflicts. */
import { z } from 'zod';
import { planOnce } from '../../actors/once/calls.ts';
import { attempt } from '../../common/attempt.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { declaredDoc } from '../../documents/dev-docs/declared.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { readFields } from '../../fields/read.ts';
import type { Progress } from '../../gateway/asking/progress.ts';
import { explainToModel } from '../../gateway/model-words.ts';
import { ADDS, DESTROYS, defineTool, SETS, type Tool } from '../../gateway/tool.ts';
import { plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { type FileRecord, liveFile } from '../../sync/log/file-record.ts';
import { checkPath } from '../../sync/log/paths.ts';
import type { VaultOf } from '../../sync/log/reader.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { hasConflictMarks } from '../../text/text-content.ts';
import {
  conflictUri,
  type DocName,
  docNamesIn,
  type PlaceInVault,
  type ThingPlace,
  thingPlaceOf,
} from '../things/ids.ts';
import { orMeant } from '../things/meant.ts';
import { fileName, referenceOf, vaultOf } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { severalIds, thingId } from './read.ts';
import { idsGiven, type Outcome, outcomes, outcomesText } from './shown.ts';

export function placeTools(shelves: Shelves): Tool[] {
  return [moveTool(shelves), removeTool(shelves), settleTool(shelves)];
}

function moveTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'move',
    title: 'Move or rename files',
    access: 'account',
    description: 'Moves or renames a file or folder in its vault, or a dev doc. Histories stay.',
    input: z.strictObject({ id: thingId, to: thingId.describe('The new path or id') }),
    output: outcomes,
    annotations: ADDS,
    hints: { search: 'move rename file folder' },
    example: { id: 'notes/plan.md', to: 'archive/plan.md' },
    async handle({ id, to }, principal, { progress }) {
      const from = thingPlaceOf(id);
      if (from.kind === 'task') throw invalidField('id', 'change_tasks with category or status moves a task');
      if (from.kind === 'doc') return await moveDoc(shelves, principal, { id, from }, to);
      if (from.kind === 'paper')
        throw invalidField('id', 'write with title or category, without content, moves a paper');
      if (from.kind !== 'file') throw invalidField('id', 'only files, folders and dev docs move');
      const target = thingPlaceOf(to, 'to');
      if (target.kind !== 'file') throw invalidField('to', 'to must be a path in the same vault');
      return await planOnce(
        ['move'],
        () => orMeant(shelves, principal.accountId, from, () => movesOf(shelves, principal.accountId, from, target)),
        async (plan) => outcomesText('moved', await moveAll(shelves, principal, plan, progress)),
      );
    },
  });
}

/** Gives a dev doc another title, or another category. */
async function moveDoc(
  { docs, nameOf }: Shelves,
  by: Principal,
  { id, from }: { readonly id: string; readonly from: DocName },
  to: string,
) {
  const names = readFields(declaredDoc.changeInput, docNamesIn(to));
  const made = await docs.move(by.accountId, referenceOf(from), names, nameOf(by));
  return outcomesText('moved', [{ id, done: true, says: `to ${docUri(made)}` }]);
}

async function moveAll(
  shelves: Shelves,
  by: Principal,
  { vaultId, moves }: Moves,
  progress: Progress | undefined,
): Promise<Outcome[]> {
  const results: Outcome[] = [];
  for (const { path, target, sha256 } of moves) {
    const push = () =>
      shelves.sync.push.push(by.accountId, {
        path: target,
        from_path: path,
        base_sha: sha256,
        vault_id: vaultId,
        device_id: shelves.nameOf(by),
        mustHash: false,
      });
    const made = await attempt(push);
    if (!made.ok && moves.length === 1) throw new Refusal(made.fault);
    results.push({
      id: path,
      done: made.ok,
      says: made.ok ? `to ${made.value.record.path}` : explainToModel(made.fault),
    });
    progress?.(results.length, moves.length, 'files moved');
  }
  return results;
}

interface Moves {
  readonly vaultId: string;
  readonly moves: readonly { readonly path: string; readonly target: string; readonly sha256: string }[];
}

/** The files to move: one, or all of a folder. Throws Refusal `invalid_fields` or `not_found`. */
async function movesOf(
  shelves: Shelves,
  accountId: string,
  { vault, path: from }: PlaceInVault,
  place: PlaceInVault,
): Promise<Moves> {
  const { sync } = shelves;
  const to = place.path;
  const vaultId = await vaultOf(shelves, accountId, { vault, path: from });
  const toVault = place.vault === undefined ? vaultId : await vaultOf(shelves, accountId, place);
  if (toVault !== vaultId)
    throw invalidField('to', 'to must be in the same vault; write the file there, then remove it here');
  const folder = folderIn(from, 'id');
  const { folded } = checkPath(folder, 'id');
  const file = from.endsWith('/') ? undefined : liveFile(sync.reader.file(vaultId, folded));
  if (file !== undefined) {
    const name = file.path.split('/').at(-1) ?? '';
    const { path, sha256 } = file;
    const target = to.endsWith('/') ? to + name : to;
    if (target === path) throw invalidField('to', `to is where ${path} is already`);
    return { vaultId, moves: [{ path, target, sha256 }] };
  }
  const files = await filesOf(shelves, { accountId, vaultId }, from, 'id');
  const into = to.replace(/\/+$/, '');
  if (into === folder) throw invalidField('to', `to is where ${folder} is already`);
  const moves = files.map(({ path, sha256 }) => ({
    path,
    target: `${into}${path.slice(folder.length)}`,
    sha256,
  }));
  return { vaultId, moves };
}

/** The path of a folder. Throws Refusal `invalid_fields` for the one that has all others. */
function folderIn(path: string, field: 'id' | 'ids'): string {
  const folder = path.replace(/\/+$/, '');
  if (folder === '') throw invalidField(field, 'this is a whole vault; name its folders and files, which list shows');
  return folder;
}

/** All files of a folder. Throws Refusal `not_found` when there are none, `invalid_fields` when they are too many. */
async function filesOf({ sync }: Shelves, vault: VaultOf, id: string, field: 'id' | 'ids'): Promise<FileRecord[]> {
  const folder = checkPath(folderIn(id, field), field).path;
  const page = await sync.reading.fileLists.list(vault, {
    prefix: `${folder}/`,
    glob: undefined,
    includeDeleted: false,
    limit: limits.moveFilesMax,
    after: undefined,
  });
  if (page.files.length === 0)
    throw new Refusal({ kind: 'not_found', what: `no file or folder ${id} in this vault; list shows what is there` });
  if (page.next !== undefined)
    throw invalidField(field, `a call takes at most ${limits.moveFilesMax} files; name its subfolders one by one`);
  return page.files.map(({ file }) => file);
}

function removeTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'remove',
    title: 'Remove files or documents',
    access: 'account',
    description:
      'Deletes files and folders (notes/old/), or moves dev docs, papers and tasks to the trash. restore brings each back.',
    input: z.strictObject({ id: thingId.optional(), ids: severalIds.optional() }),
    output: outcomes,
    annotations: DESTROYS,
    hints: { search: 'remove delete trash file document task' },
    example: { ids: ['archive/plan.md'] },
    async handle({ id: one, ids: several }, principal, { progress }) {
      const ids = idsGiven(one, several);
      const results: Outcome[] = [];
      for (const id of ids) {
        const steps = ids.length === 1 ? progress : undefined;
        const made = await attempt(() => {
          const place = thingPlaceOf(id);
          return orMeant(shelves, principal.accountId, place, () => removeOne(shelves, principal, place, steps));
        });
        if (!made.ok && ids.length === 1) throw new Refusal(made.fault);
        results.push({ id, done: made.ok, says: made.ok ? made.value : explainToModel(made.fault) });
        if (steps === undefined) progress?.(results.length, ids.length, 'things removed');
      }
      return outcomesText('removed', results);
    },
  });
}

async function removeOne(
  shelves: Shelves,
  by: Principal,
  place: ThingPlace,
  progress: Progress | undefined,
): Promise<string> {
  const { docs, papers, tasks, sync, nameOf } = shelves;
  const name = nameOf(by);
  const inTrash = `is in the trash for ${limits.binDays} days`;
  switch (place.kind) {
    case 'doc':
      await docs.remove(by.accountId, referenceOf(place), name);
      return inTrash;
    case 'paper':
      await papers.remove(by.accountId, place.id, name);
      return inTrash;
    case 'task':
      await tasks.remove(by.accountId, place.id, name);
      return inTrash;
    case 'handoff':
      throw invalidField('ids', 'a handoff cannot be removed; a newer one on the same topic replaces it');
    case 'conflict':
      throw invalidField('ids', 'settle_conflict ends a conflict');
    case 'file': {
      if (place.path === '' || place.path.endsWith('/')) return await removeFolder(shelves, by, place, progress);
      await planOnce(
        ['remove', place.path],
        () => fileOf(shelves, by.accountId, place),
        (file) => sync.history.remove(by.accountId, { ...file, deviceId: name }),
      );
      return 'deleted; its versions are kept';
    }
  }
}

/** Deletes the files of a folder, and tells how all of them come back. */
async function removeFolder(
  shelves: Shelves,
  by: Principal,
  place: PlaceInVault,
  progress: Progress | undefined,
): Promise<string> {
  const { accountId } = by;
  const plan = async () => {
    const vaultId = await vaultOf(shelves, accountId, place);
    const found = await filesOf(shelves, { accountId, vaultId }, place.path, 'ids');
    // After the newest change, and before the first file goes.
    const atMs = Math.max(Date.now() - 1, ...found.map((file) => file.stored_ms));
    const files = found.map(({ path, sha256 }) => ({ path, sha256 }));
    const id = place.vault === undefined ? place.path : fileUri(vaultId, place.path);
    return { vaultId, files, id, at: new Date(atMs).toISOString() };
  };
  return await planOnce(['remove', place.path], plan, async ({ vaultId, files, id, at }) => {
    const kept: string[] = [];
    for (const [index, { path, sha256 }] of files.entries()) {
      const one = { path, vaultId, baseSha: sha256, deviceId: shelves.nameOf(by) };
      const made = await attempt(() => shelves.sync.history.remove(accountId, one));
      if (!made.ok) kept.push(`${path}: ${explainToModel(made.fault)}`);
      progress?.(index + 1, files.length, 'files removed');
    }
    const rest = kept.length === 0 ? '' : `, not ${kept.join(', ')}`;
    const back = `restore with id ${JSON.stringify(id)} and at ${JSON.stringify(at)} brings all back`;
    return `${plural(files.length - kept.length, 'file')} deleted${rest}; ${back}`;
  });
}

async function fileOf(shelves: Shelves, accountId: string, place: PlaceInVault) {
  const vaultId = await vaultOf(shelves, accountId, place);
  const { folded } = checkPath(place.path, 'ids');
  const { reader } = shelves.sync;
  const file = liveFile(reader.file(vaultId, folded));
  if (file === undefined && reader.childrenOf(vaultId, folded) > 0) {
    const ask = `${place.path}/ deletes all of its files`;
    throw invalidField('ids', `${place.path} is a folder; ${ask}`);
  }
  if (file === undefined)
    throw new Refusal({ kind: 'not_found', what: `no file ${place.path} in this vault; list shows what is there` });
  return { path: file.path, vaultId, baseSha: file.sha256 };
}

function settleTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'settle_conflict',
    title: 'Settle a conflict',
    access: 'account',
    description:
      'Ends a conflict of two versions of a file (list with in "conflicts", read shows both merged): keep one side, or both as two files, or send the merged text.',
    input: z.strictObject({
      id: thingId.optional().describe('cairn://conflicts/…, or the path: all of it. Default: the only one'),
      keep: z.enum(['current', 'pushed', 'both']).optional().describe('pushed: the refused version'),
      text: z.string().max(limits.fileBytesMax).optional().describe('The merge, without marks'),
      version: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('As read shows it; guards the file'),
    }),
    output: z.object({ id: z.string(), path: z.string(), version: z.int().nullable() }),
    annotations: SETS,
    hints: { search: 'settle resolve merge sync conflict' },
    example: { id: 'notes/today.md', keep: 'current' },
    async handle({ id, ...settlement }, principal) {
      return await planOnce(
        ['conflict'],
        async () => id ?? (await onlyConflict(shelves, principal.accountId)),
        async (named) => await settle(shelves, principal, named, settlement),
      );
    },
  });
}

/** What is kept, in the words of the tool. */
type Keep = 'current' | 'pushed' | 'both';

const SIDES = { current: { side: 'theirs' }, pushed: { side: 'yours' }, both: { side: 'both' } } as const;

interface Settlement {
  readonly keep?: Keep | undefined;
  readonly text?: string | undefined;
  readonly version?: number | undefined;
}

async function settle(shelves: Shelves, by: Principal, id: string, { keep, text, version: read }: Settlement) {
  const place = thingPlaceOf(id);
  if (place.kind === 'file') return await settlePath(shelves, by, place, keep);
  if (place.kind !== 'conflict')
    throw invalidField('id', 'id must be of a conflict, like cairn://conflicts/…; list with in "conflicts" shows them');
  if ((keep === undefined) === (text === undefined)) throw invalidField('keep', 'send either keep or text');
  if (text !== undefined && hasConflictMarks(text))
    throw invalidField('text', 'text still has conflict markers; send the merged text without them');
  const made = await planOnce(
    ['settle'],
    () => currentOf(shelves, by.accountId, place.id, read),
    (baseSha) =>
      shelves.sync.conflicts.resolve(by.accountId, {
        conflictId: place.id,
        vaultId: undefined,
        keep: text === undefined ? SIDES[keep ?? 'current'] : { side: 'edited', text, encoding: 'utf-8' },
        baseSha,
        deviceId: shelves.nameOf(by),
      }),
  );
  const { path } = made.conflict.record;
  const version = made.file?.seq ?? null;
  return {
    structured: { id, path, version },
    text: `${fileName(shelves, by.accountId, made.vaultId, path)} is settled; version ${version ?? 'none'}${besides(made.copy)}`,
  };
}

/** The id of the one pending conflict of an account. Throws Refusal `invalid_fields` when there are more, or none. */
async function onlyConflict({ sync }: Shelves, accountId: string): Promise<string> {
  const found: string[] = [];
  for (const { id: vaultId, head } of sync.vaults.list(accountId)) {
    if (head.pending === 0) continue;
    const page = await sync.conflicts.pending(accountId, { vaultId, path: undefined, limit: 4, cursor: undefined });
    found.push(...page.conflicts.map(({ id, record }) => `${conflictUri(id)} (${record.path})`));
  }
  const [only, ...others] = found;
  if (only === undefined) throw invalidField('id', 'there is no pending conflict');
  if (others.length > 0)
    throw invalidField('id', `there are several conflicts, name one: ${found.slice(0, 4).join(', ')}`);
  return only.slice(0, only.indexOf(' '));
}

/** The hash of the file of a conflict; undefined: there is none. Throws Refusal `invalid_fields` for another version. */
function currentOf({ sync }: Shelves, accountId: string, conflictId: string, read: number | undefined) {
  const now = sync.conflicts.sides(accountId, undefined, conflictId).file;
  if (read !== undefined && read !== (now?.seq ?? 0)) {
    throw invalidField('version', `the file is at version ${now?.seq ?? 0} now, not ${read}; read the conflict again`);
  }
  return now?.sha256;
}

/** Tells where the other side is, if both were kept. */
function besides(...copies: readonly (string | undefined)[]): string {
  return copies.map((copy) => (copy === undefined ? '' : `; the pushed side is ${copy}`)).join('');
}

/** Settles every pending conflict of a path with one side, or keeps both. */
async function settlePath(shelves: Shelves, by: Principal, place: PlaceInVault, keep: Keep | undefined) {
  if (keep === undefined) throw invalidField('keep', 'keep is required with a path; to send text, name one conflict');
  const vaultId = await vaultOf(shelves, by.accountId, place);
  const { settled, file, copies } = await shelves.sync.conflicts.resolvePath(by.accountId, {
    path: place.path,
    vaultId,
    keep: SIDES[keep],
    baseSha: undefined,
    deviceId: shelves.nameOf(by),
  });
  const version = file?.seq ?? null;
  const text = `${plural(settled.length, 'conflict')} of ${place.path} settled; version ${version ?? 'none'}${besides(...copies)}`;
  return { structured: { id: place.path, path: place.path, version }, text };
}
