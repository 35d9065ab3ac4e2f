/** Declares the tools that move, remove and bring back things, and settle conflicts. */
import { z } from 'zod';
import { attempt } from '../../common/attempt.ts';
import { explain, invalidField, Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { docUri } from '../../documents/dev-docs/resources.ts';
import { handoffUri } from '../../documents/handoffs/resources.ts';
import { ADDS, DESTROYS, defineTool, READS, SETS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { liveFile } from '../../sync/log/file-record.ts';
import { checkPath } from '../../sync/log/paths.ts';
import { parseIsoMs } from '../../time/iso-time.ts';
import { type Place, placeOf } from '../things/ids.ts';
import { fileName, handoffOf, referenceOf, vaultOf } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { minute, sizeText } from './shown.ts';
import { thingId, version } from './texts.ts';

type FilePlace = Extract<Place, { kind: 'file' }>;

const outcome = z.object({ id: z.string(), done: z.boolean(), says: z.string() });
const outcomes = z.object({ results: z.array(outcome) });
type Outcome = z.output<typeof outcome>;

export function placeTools(shelves: Shelves): Tool[] {
  return [moveTool(shelves), removeTool(shelves), historyTool(shelves), restoreTool(shelves), settleTool(shelves)];
}

function moveTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'move',
    title: 'Move or rename files',
    access: 'account',
    description: 'Moves or renames a file, or a folder with all its files, inside a vault. Histories stay.',
    input: z.strictObject({ id: thingId, to: thingId.describe('The new path') }),
    output: outcomes,
    annotations: ADDS,
    example: { id: 'notes/plan.md', to: 'archive/plan.md' },
    async handle({ id, to }, principal) {
      const [from, target] = [placeOf(id), placeOf(to, 'to')];
      if (from.kind !== 'file')
        throw invalidField(
          'id',
          'only files and folders of vaults move; write a document anew, then remove the old one',
        );
      if (target.kind !== 'file') throw invalidField('to', 'to must be a path in the same vault');
      const vaultId = await vaultOf(shelves, principal.accountId, from.vault);
      const toVault = target.vault === undefined ? vaultId : await vaultOf(shelves, principal.accountId, target.vault);
      if (toVault !== vaultId)
        throw invalidField('to', 'to must be in the same vault; write the file there, then remove it here');
      return shown('moved', await moveAll(shelves, principal, vaultId, from.path, target.path));
    },
  });
}

async function moveAll(shelves: Shelves, by: Principal, vaultId: string, from: string, to: string): Promise<Outcome[]> {
  const moves = await movesOf(shelves, by.accountId, vaultId, from, to);
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
    results.push({ id: path, done: made.ok, says: made.ok ? `to ${made.value.record.path}` : explain(made.fault) });
  }
  return results;
}

/** The files to move: one, or all of a folder. Throws Refusal `invalid_fields` or `not_found`. */
async function movesOf({ sync }: Shelves, accountId: string, vaultId: string, from: string, to: string) {
  const folder = from.replace(/\/+$/, '');
  const { folded } = checkPath(folder, 'id');
  const file = from.endsWith('/') ? undefined : liveFile(sync.reader.file(vaultId, folded));
  if (file !== undefined) {
    const name = file.path.split('/').at(-1) ?? '';
    return [{ path: file.path, target: to.endsWith('/') ? to + name : to, sha256: file.sha256 }];
  }
  const page = await sync.reading.fileLists.list(
    { accountId, vaultId },
    { prefix: `${folder}/`, glob: undefined, includeDeleted: false, limit: limits.moveFilesMax, after: undefined },
  );
  if (page.files.length === 0)
    throw new Refusal({ kind: 'not_found', what: `no file or folder ${from} in this vault; list shows what is there` });
  if (page.next !== undefined)
    throw invalidField('id', `a call moves at most ${limits.moveFilesMax} files; move its subfolders one by one`);
  const into = to.replace(/\/+$/, '');
  return page.files.map(({ file: { path, sha256 } }) => ({
    path,
    target: `${into}${path.slice(folder.length)}`,
    sha256,
  }));
}

function removeTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'remove',
    title: 'Remove files or documents',
    access: 'account',
    description: 'Deletes files, or moves dev docs, papers and tasks to the trash. restore brings each back.',
    input: z.strictObject({ ids: z.array(thingId).min(1).max(limits.removedAtOnceMax) }),
    output: outcomes,
    annotations: DESTROYS,
    example: { ids: ['archive/plan.md'] },
    async handle({ ids }, principal) {
      const results: Outcome[] = [];
      for (const id of ids) {
        const made = await attempt(() => removeOne(shelves, principal, placeOf(id)));
        if (!made.ok && ids.length === 1) throw new Refusal(made.fault);
        results.push({ id, done: made.ok, says: made.ok ? made.value : explain(made.fault) });
      }
      return shown('removed', results);
    },
  });
}

async function removeOne(shelves: Shelves, by: Principal, place: Place): Promise<string> {
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
      throw invalidField('ids', 'handoffs are not removed; a newer one of the same topic takes its place');
    case 'conflict':
      throw invalidField('ids', 'settle_conflict ends a conflict');
    case 'file': {
      const vaultId = await vaultOf(shelves, by.accountId, place.vault);
      const file = liveFile(sync.reader.file(vaultId, checkPath(place.path.replace(/\/+$/, ''), 'ids').folded));
      if (file === undefined)
        throw new Refusal({ kind: 'not_found', what: `no file ${place.path} in this vault; list shows what is there` });
      await sync.history.remove(by.accountId, { path: file.path, vaultId, baseSha: file.sha256, deviceId: name });
      return 'deleted; its versions are kept';
    }
  }
}

function historyTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'history',
    title: 'List versions',
    access: 'account',
    description: 'Lists the kept versions of a file, dev doc or handoff, newest first: when, and by whom.',
    input: z.strictObject({
      id: thingId,
      limit: z.int().min(1).max(limits.historyMax).optional(),
      detail: z.boolean().optional().describe('Adds hashes'),
    }),
    output: z.object({
      id: z.string(),
      versions: z.array(z.object({ version: z.int(), about: z.string(), sha256: z.string().optional() })),
    }),
    annotations: READS,
    example: { id: 'notes/today.md' },
    async handle({ id, limit = limits.historyDefault, detail = false }, { accountId }) {
      const found = await versionsOf(shelves, accountId, placeOf(id), limit);
      const text = headed(
        `${found.id}: ${plural(found.versions.length, 'version')}; read or restore takes version`,
        found.versions,
        (one) =>
          [`${one.version}: ${one.about}`, ...(detail && one.sha256 !== undefined ? [one.sha256] : [])].join(' '),
      );
      return { structured: found, text };
    },
  });
}

interface Versions {
  readonly id: string;
  readonly versions: { version: number; about: string; sha256?: string }[];
}

async function versionsOf(shelves: Shelves, accountId: string, place: Place, limit: number): Promise<Versions> {
  const { docs, handoffs, sync } = shelves;
  const about = (v: { size_bytes: number; created_at: string; changed_by?: string | undefined }) =>
    `${minute(v.created_at)}${v.changed_by === undefined ? '' : ` by ${v.changed_by}`}, ${sizeText(v.size_bytes)}`;
  const of = (id: string, all: readonly ({ version: number } & Parameters<typeof about>[0])[]): Versions => ({
    id,
    versions: all.slice(0, limit).map((one) => ({ version: one.version, about: about(one) })),
  });
  switch (place.kind) {
    case 'doc': {
      const { record } = docs.get(accountId, referenceOf(place));
      return of(docUri(record), docs.versions(accountId, record));
    }
    case 'handoff': {
      const { record } = handoffOf(handoffs, accountId, place);
      return of(handoffUri(record), handoffs.versions(accountId, record));
    }
    case 'file': {
      const vaultId = await vaultOf(shelves, accountId, place.vault);
      const page = await sync.history.list(accountId, { path: place.path, vaultId, limit, before: undefined });
      const versions = page.versions.map((one) => ({
        version: one.seq,
        about: `${minute(one.stored_at)} ${one.status} by ${one.device_id}, ${sizeText(one.size_bytes)}${one.path === page.path ? '' : `, as ${one.path}`}`,
        sha256: one.sha256,
      }));
      return { id: fileName(shelves, accountId, vaultId, page.path), versions };
    }
    default:
      throw invalidField('id', 'only files, dev docs and handoffs keep earlier versions');
  }
}

function restoreTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'restore',
    title: 'Bring back a version',
    access: 'account',
    description:
      'Brings back what was removed, an older version of a file, dev doc or handoff, or a folder as it was at a time. A new change, which can be undone.',
    input: z.strictObject({
      id: thingId,
      version: version.describe('See history'),
      at: z.string().max(limits.isoTimeCharsMax).optional().describe('For a folder: ISO 8601 with a zone'),
      dry_run: z.boolean().optional().describe('Only list'),
    }),
    output: outcomes,
    annotations: ADDS,
    example: { id: 'archive/plan.md' },
    async handle({ id, version: wanted, at, dry_run: isDry = false }, principal) {
      const place = placeOf(id);
      if (at === undefined)
        return shown('restored', [{ id, done: true, says: await restoreOne(shelves, principal, place, wanted) }]);
      if (place.kind !== 'file') throw invalidField('at', 'at is only for folders of vaults; use version');
      return shown(isDry ? 'would be restored' : 'restored', await restoreFolder(shelves, principal, place, at, isDry));
    },
  });
}

async function restoreOne(shelves: Shelves, by: Principal, place: Place, wanted: number | undefined): Promise<string> {
  const { docs, papers, tasks, handoffs, sync, nameOf } = shelves;
  const { accountId } = by;
  const name = nameOf(by);
  switch (place.kind) {
    case 'doc': {
      const content =
        wanted === undefined ? undefined : docs.get(accountId, { ...referenceOf(place), version: wanted }).content;
      const made = await docs.update(
        accountId,
        { ...referenceOf(place), ...(content === undefined ? { restore: true } : { content }) },
        name,
      );
      return `restored; now version ${made.version}`;
    }
    case 'handoff': {
      if (wanted === undefined) throw invalidField('version', 'version is required; history lists them');
      const { record, content } = handoffOf(handoffs, accountId, place, wanted);
      const { project, topic, date, time } = record;
      const made = await handoffs.save(
        accountId,
        { project, topic, date, ...(time === null ? {} : { time }), content },
        name,
      );
      return `restored; now version ${made.version}`;
    }
    case 'paper': {
      const { paper } = await papers.patch(accountId, place.id ?? 0, { restore: true }, name);
      return `is back, version ${paper.version}`;
    }
    case 'task': {
      const task = await tasks.patch(accountId, place.id, {}, { restore: true, by: name });
      return `is back, version ${task.version}`;
    }
    case 'conflict':
      throw invalidField('id', 'settle_conflict ends a conflict; history of the file shows its versions');
    case 'file': {
      const vaultId = await vaultOf(shelves, accountId, place.vault);
      const seq = wanted ?? (await lastLive(shelves, accountId, vaultId, place.path));
      const made = await sync.history.restore(accountId, {
        path: place.path,
        seq,
        vaultId,
        baseSha: undefined,
        deviceId: name,
      });
      return `${made.status} from version ${seq}; now version ${made.record.seq}`;
    }
  }
}

/** The newest version of a deleted file that has content. Throws Refusal `invalid_fields` for a file that is there. */
async function lastLive({ sync }: Shelves, accountId: string, vaultId: string, path: string): Promise<number> {
  const page = await sync.history.list(accountId, { path, vaultId, limit: 2, before: undefined });
  const [newest, previous] = page.versions;
  if (newest?.type === 'deleted' && previous !== undefined) return previous.seq;
  throw invalidField('version', `${page.path} is there; say which version to bring back (history lists them)`);
}

async function restoreFolder(
  shelves: Shelves,
  by: Principal,
  place: FilePlace,
  at: string,
  isDry: boolean,
): Promise<Outcome[]> {
  const atMs = parseIsoMs(at);
  if (atMs === undefined) throw invalidField('at', 'at must be ISO 8601 with a zone, e.g. 2026-11-20T18:00:00Z');
  const vaultId = await vaultOf(shelves, by.accountId, place.vault);
  const folder = place.path.replace(/\/+$/, '');
  const results: Outcome[] = [];
  let after: Parameters<Shelves['sync']['asOf']['restore']>[1]['after'];
  do {
    const page = await shelves.sync.asOf.restore(by.accountId, {
      vaultId,
      folder: folder === '' ? '' : checkPath(folder, 'id').path,
      atMs,
      isDry,
      deviceId: shelves.nameOf(by),
      after,
    });
    results.push(
      ...page.restored.map((id) => ({ id, done: true, says: 'as it was' })),
      ...page.deleted.map((id) => ({ id, done: true, says: 'deleted, as it came later' })),
      ...page.skipped.map(({ path, reason }) => ({ id: path, done: false, says: reason })),
    );
    after = page.next;
  } while (after !== undefined && results.length < limits.moveFilesMax);
  if (after !== undefined) results.push({ id: place.path, done: false, says: 'there are more; call again' });
  return results;
}

function settleTool(shelves: Shelves): Tool {
  return defineTool({
    name: 'settle_conflict',
    title: 'Settle a conflict',
    access: 'account',
    description:
      'Ends a conflict of two versions of a file (list with in "conflicts", read shows both merged): keep one side, or send the merged text.',
    input: z.strictObject({
      id: thingId.describe('cairn://conflicts/…, or the path: all of it'),
      keep: z.enum(['current', 'pushed']).optional().describe('pushed: the refused version'),
      text: z.string().max(limits.fileBytesMax).optional().describe('The merge, without marks'),
      version: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('As read; guards the file'),
    }),
    output: z.object({ id: z.string(), path: z.string(), version: z.int().nullable() }),
    annotations: SETS,
    example: { id: 'notes/today.md', keep: 'current' },
    async handle({ id, keep, text, version: read }, principal) {
      const place = placeOf(id);
      if (place.kind === 'file') return await settlePath(shelves, principal, place, keep);
      if (place.kind !== 'conflict')
        throw invalidField(
          'id',
          'id must be of a conflict, like cairn://conflicts/…; list with in "conflicts" shows them',
        );
      if ((keep === undefined) === (text === undefined)) throw invalidField('keep', 'send keep or text, one of them');
      const { conflicts } = shelves.sync;
      const { current } = conflicts.sides(principal.accountId, undefined, place.id);
      const now = current?.record;
      if (read !== undefined && read !== (now?.seq ?? 0)) {
        throw invalidField(
          'version',
          `the file is at version ${now?.seq ?? 0} now, not ${read}; read the conflict again`,
        );
      }
      const { vaultId, conflict, file } = await conflicts.resolve(principal.accountId, {
        conflictId: place.id,
        vaultId: undefined,
        keep:
          text === undefined
            ? { side: keep === 'pushed' ? 'yours' : 'theirs' }
            : { side: 'edited', text, encoding: 'utf-8' },
        baseSha: now?.deleted === false ? now.sha256 : undefined,
        deviceId: shelves.nameOf(principal),
      });
      const { path } = conflict.record;
      const version = file?.seq ?? null;
      return {
        structured: { id, path, version },
        text: `${fileName(shelves, principal.accountId, vaultId, path)} is settled; version ${version ?? 'none'}`,
      };
    },
  });
}

/** Settles every pending conflict of a path with one side. */
async function settlePath(shelves: Shelves, by: Principal, place: FilePlace, keep: 'current' | 'pushed' | undefined) {
  if (keep === undefined) throw invalidField('keep', 'keep is required with a path; to send text, name one conflict');
  const vaultId = await vaultOf(shelves, by.accountId, place.vault);
  const { settled, file } = await shelves.sync.conflicts.resolvePath(by.accountId, {
    path: place.path,
    vaultId,
    keep: { side: keep === 'pushed' ? 'yours' : 'theirs' },
    baseSha: undefined,
    deviceId: shelves.nameOf(by),
  });
  const version = file?.seq ?? null;
  const text = `${plural(settled.length, 'conflict')} of ${place.path} settled; version ${version ?? 'none'}`;
  return { structured: { id: place.path, path: place.path, version }, text };
}

/** Results of several steps: those that failed first, and what was done in short. */
function shown(verb: string, results: readonly Outcome[]) {
  const failed = results.filter(({ done }) => !done);
  const done = results.length - failed.length;
  const headline = `${done} ${verb}${failed.length === 0 ? '' : `, ${failed.length} not`}`;
  const sorted = [...failed, ...results.filter((one) => one.done)];
  return { structured: { results: [...results] }, text: headed(headline, sorted, (one) => `${one.id} ${one.says}`) };
}
