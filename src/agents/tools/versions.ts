/** Declares the tools that list versions, and bring one back, or what was removed, or a folder as it was. */
import { z } from 'zod';
import { planOnce } from '../../actors/once/calls.ts';
import { attempt } from '../../common/attempt.ts';
import { invalidField } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { handoffUri } from '../../documents/handoffs/uri.ts';
import { paperUri } from '../../documents/papers/resources.ts';
import { eventSchema, isChangeWanted, type WantedChanges } from '../../events/event.ts';
import { MOMENT_ABOUT, momentField, momentOf } from '../../events/moments.ts';
import type { Progress } from '../../gateway/asking/progress.ts';
import { explainToModel } from '../../gateway/model-words.ts';
import { ADDS, defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { pastOf } from '../../sync/history/as-of.ts';
import { checkPath } from '../../sync/log/paths.ts';
import type { AccountZones } from '../../tasks/tools.ts';
import { type PlaceInVault, type ThingPlace, thingPlaceOf } from '../things/ids.ts';
import { orMeant } from '../things/meant.ts';
import { fileName, handoffOf, referenceOf, vaultOf } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { recentChanges, taskChanges } from './changes.ts';
import { severalIds, thingId, versionArgument } from './read.ts';
import { idsGiven, minute, nameMeant, type Outcome, outcomes, outcomesText, sizeText } from './shown.ts';
import { takeBack } from './take-back.ts';

const WITHOUT_VERSIONS =
  'a task keeps no earlier versions; restore without version brings one back from the trash, with since it takes back what was changed since then';

/** What a day and "an hour ago" mean. */
interface Clock {
  readonly zones: AccountZones;
  readonly now: () => number;
}

export function versionTools(shelves: Shelves, clock: Clock): Tool[] {
  return [historyTool(shelves, clock), restoreTool(shelves, clock)];
}

const byField = z.string().min(1).max(limits.changedByCharsMax).optional().describe('Key, device or app');

function historyTool(shelves: Shelves, { zones, now }: Clock): Tool {
  return defineTool({
    name: 'history',
    title: 'List changes',
    access: 'account',
    description:
      'Lists the kept versions of a file, dev doc, paper or handoff, or the changes of a task. Without id: all recent changes, deletions too, newest first, by whom.',
    input: z.strictObject({
      id: thingId.optional(),
      since: momentField.describe(MOMENT_ABOUT),
      until: momentField,
      by: byField,
      limit: z.int().min(1).max(limits.historyMax).optional(),
      cursor: z.string().max(limits.eventCursorCharsMax).optional(),
      detail: z.boolean().optional().describe('Adds hashes'),
    }),
    output: z.object({
      id: z.string().optional(),
      versions: z.array(z.object({ version: z.int(), about: z.string(), sha256: z.string().optional() })),
      changes: z.array(eventSchema).optional().describe('Without id, or of a task'),
      cursor: z.string().nullable().optional(),
    }),
    annotations: READS,
    hints: { search: 'history versions recent activity who changed what since yesterday earlier' },
    example: { id: 'notes/today.md' },
    async handle({ id, since, until, by, limit = limits.historyDefault, cursor, detail = false }, principal) {
      const { accountId } = principal;
      const asked = { nowMs: now(), zone: zones.of(accountId) };
      const span = { sinceMs: momentOf('since', since, asked), untilMs: momentOf('until', until, asked) };
      const query = { ...span, by: nameMeant(by, shelves.nameOf(principal)), limit };
      if (id === undefined) return recentChanges(shelves, accountId, { ...query, cursor });
      if (cursor !== undefined) throw invalidField('cursor', 'cursor is for the changes of everything: omit id');
      const place = thingPlaceOf(id);
      if (place.kind === 'task') return taskChanges(shelves, accountId, place.id, query);
      const { of, ...found } = await orMeant(shelves, accountId, place, () =>
        versionsOf(shelves, accountId, place, query),
      );
      const text = headed(
        `${found.id}: ${plural(found.versions.length, 'version')}${of}; read or restore takes version`,
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
  /** Says among how many they were looked for, when not all are wanted. */
  readonly of: string;
}

async function versionsOf(
  shelves: Shelves,
  accountId: string,
  place: ThingPlace,
  query: WantedChanges & { readonly limit: number },
): Promise<Versions> {
  const isWhole = query.sinceMs === undefined && query.untilMs === undefined && query.by === undefined;
  const of = (newest: readonly unknown[]) => (isWhole ? '' : ` of the newest ${newest.length}`);
  const limit = isWhole ? query.limit : limits.historyMax;
  if (place.kind === 'file') {
    if (/(?:^|\/)$/.test(place.path))
      throw invalidField('id', 'id must name a file; without id, history lists all changes');
    const vaultId = await vaultOf(shelves, accountId, place);
    const page = await shelves.sync.history.list(accountId, { path: place.path, vaultId, limit, before: undefined });
    const wanted = page.versions.filter((one) => isChangeWanted(query, Date.parse(one.stored_at), one.device_id));
    const versions = wanted.slice(0, query.limit).map((one) => ({
      version: one.seq,
      about: `${minute(one.stored_at)} ${one.status} by ${one.device_id}, ${sizeText(one.size_bytes)}${one.path === page.path ? '' : `, as ${one.path}`}`,
      sha256: one.sha256,
    }));
    return { id: fileName(shelves, accountId, vaultId, page.path), versions, of: of(page.versions) };
  }
  const kept = documentVersions(shelves, accountId, place);
  if (kept === undefined) throw invalidField('id', WITHOUT_VERSIONS);
  const versions = kept.versions
    .filter(({ created_at: at, changed_by: who }) => isChangeWanted(query, Date.parse(at), who ?? null))
    .slice(0, query.limit)
    .map(({ version, created_at: at, changed_by: by, size_bytes: size }) => ({
      version,
      about: `${minute(at)}${by === undefined ? '' : ` by ${by}`}, ${sizeText(size)}`,
    }));
  return { id: kept.id, versions, of: of(kept.versions) };
}

/** The id and the kept versions of a dev doc, handoff or paper, newest first; undefined for another thing. */
function documentVersions({ docs, handoffs, papers }: Shelves, accountId: string, place: ThingPlace) {
  switch (place.kind) {
    case 'doc': {
      const { record } = docs.get(accountId, referenceOf(place));
      return { id: docUri(record), versions: docs.versions(accountId, record) };
    }
    case 'handoff': {
      const { record } = handoffOf(handoffs, accountId, place);
      return { id: handoffUri(record), versions: handoffs.versions(accountId, record) };
    }
    case 'paper': {
      const { record } = papers.openById(accountId, place.id);
      return { id: paperUri(record.id), versions: papers.versions(accountId, record) };
    }
    default:
      return undefined;
  }
}

function restoreTool(shelves: Shelves, { zones, now }: Clock): Tool {
  return defineTool({
    name: 'restore',
    title: 'Bring back a version',
    access: 'account',
    description:
      'Brings back what was removed, an older version of a file, dev doc, paper or handoff, or one or a folder as it was at a time; it can be undone. With since: takes back all that by (default: you) did; what others changed since stays.',
    input: z.strictObject({
      id: thingId.optional(),
      ids: severalIds.optional(),
      version: versionArgument,
      at: momentField.describe(MOMENT_ABOUT),
      since: momentField,
      until: momentField,
      by: byField,
      dry_run: z.boolean().optional().describe('Only list'),
    }),
    output: outcomes,
    annotations: ADDS,
    hints: { search: 'restore undo revert recover deleted version folder take back wrong changes' },
    example: { id: 'archive/plan.md' },
    async handle({ id, ids, version: wanted, at, since, until, by, dry_run: isDry = false }, principal, { progress }) {
      const asked = { nowMs: now(), zone: zones.of(principal.accountId) };
      const [sinceMs, untilMs] = [momentOf('since', since, asked), momentOf('until', until, asked)];
      if (sinceMs !== undefined) {
        if (wanted !== undefined || at !== undefined)
          throw invalidField('since', 'since takes back changes: omit version and at');
        if (ids !== undefined) throw invalidField('ids', 'ids is not for since; send one id, of a thing or a folder');
        return await takeBack(shelves, principal, { id, sinceMs, untilMs, by, isDry, startMs: asked.nowMs, progress });
      }
      const extra = until !== undefined ? 'until' : by !== undefined ? 'by' : undefined;
      if (extra !== undefined) throw invalidField(extra, `${extra} needs since: from when on changes are taken back`);
      if (id === undefined && ids === undefined)
        throw invalidField('id', 'id is required: what to bring back; or since, to take back what you did since then');
      if (isDry && at === undefined)
        throw invalidField('dry_run', 'dry_run needs at or since: what would be restored of then');
      if (wanted !== undefined && at !== undefined) throw invalidField('at', 'send either version or at');
      const verb = isDry ? 'would be restored' : 'restored';
      const request = { wanted, atMs: momentOf('at', at, asked), isDry, progress };
      const named = idsGiven(id, ids);
      const [only = ''] = named;
      if (named.length === 1) return outcomesText(verb, ...(await restoreThing(shelves, principal, only, request)));
      const results: Outcome[] = [];
      for (const one of named) {
        const made = await attempt(() => restoreThing(shelves, principal, one, request));
        results.push(...(made.ok ? made.value[0] : [{ id: one, done: false, says: explainToModel(made.fault) }]));
      }
      return outcomesText(verb, results);
    },
  });
}

interface RestoreRequest {
  readonly wanted: number | undefined;
  readonly atMs: number | undefined;
  readonly isDry: boolean;
  readonly progress: Progress | undefined;
}

/** Brings one thing back, or a folder; and what to say when there was nothing to do. */
async function restoreThing(
  shelves: Shelves,
  by: Principal,
  id: string,
  { wanted, atMs, isDry, progress }: RestoreRequest,
): Promise<readonly [results: Outcome[], why?: string]> {
  const { accountId } = by;
  const place = thingPlaceOf(id);
  if (atMs !== undefined && place.kind === 'file') {
    const found = await folderOf(shelves, accountId, place);
    if (found !== undefined) {
      const results = await restoreFolder(shelves, by, found, { atMs, isDry, progress });
      const why = `${place.path || 'the vault'} is already as it was then, or there is no such folder`;
      return results.length === 0 ? [results, why] : [results];
    }
  }
  const plan = async () => {
    const then = atMs === undefined ? wanted : await versionAt(shelves, accountId, place, atMs);
    return { ...(await toRestore(shelves, accountId, place, then)), wantedVersion: then };
  };
  const says = await orMeant(shelves, accountId, place, () =>
    planOnce(['restore', id], plan, async (planned) =>
      isDry ? `version ${planned.wantedVersion}` : await restoreOne(shelves, by, planned),
    ),
  );
  return [[{ id, done: true, says }]];
}

/** The version that was the current one at a time. Throws Refusal `invalid_fields` when there was none. */
async function versionAt(shelves: Shelves, accountId: string, place: ThingPlace, atMs: number): Promise<number> {
  if (place.kind === 'file') {
    const { reader } = shelves.sync;
    const vaultId = await vaultOf(shelves, accountId, place);
    const file = reader.file(vaultId, checkPath(place.path, 'id').folded);
    const past = file && (await pastOf(reader, { accountId, vaultId }, file, atMs));
    if (file !== undefined && past === undefined) throw invalidField('at', 'its versions from then are no longer kept');
    if (past === undefined || past.seq === null) throw invalidField('at', 'there was no such file then');
    if (past.seq === file?.seq) throw invalidField('at', 'it has not changed since then; nothing was changed');
    return past.seq;
  }
  const versions = documentVersions(shelves, accountId, place)?.versions;
  if (versions === undefined) throw invalidField('at', WITHOUT_VERSIONS);
  const then = versions.find(({ created_at: created }) => Date.parse(created) <= atMs);
  if (then === undefined) throw invalidField('at', 'no version of it is kept from then; history lists those that are');
  if (then === versions[0]) throw invalidField('at', 'it has not changed since then; nothing was changed');
  return then.version;
}

/** True for a dev doc, a paper or a task that is not in the trash. */
async function isThere({ docs, papers, tasks }: Shelves, accountId: string, place: ThingPlace): Promise<boolean> {
  const has = async (look: () => unknown) => (await attempt(look)).ok;
  if (place.kind === 'doc') return await has(() => docs.get(accountId, referenceOf(place)));
  if (place.kind === 'paper') return await has(() => papers.get(accountId, place.id));
  return place.kind === 'task' && tasks.find(accountId, place.id) !== undefined;
}

/** What a restore reads first: whether there is something to bring back, and what. */
async function toRestore(shelves: Shelves, accountId: string, place: ThingPlace, wanted: number | undefined) {
  const { docs, handoffs, papers } = shelves;
  if (wanted !== undefined && place.kind === 'task') {
    throw invalidField('version', WITHOUT_VERSIONS);
  }
  if (wanted === undefined && (await isThere(shelves, accountId, place))) {
    throw invalidField('id', 'it is not in the trash, so there is nothing to bring back; nothing was changed');
  }
  switch (place.kind) {
    case 'doc': {
      const content =
        wanted === undefined ? undefined : docs.get(accountId, { ...referenceOf(place), version: wanted }).content;
      return { ...place, change: content === undefined ? { restore: true } : { content } };
    }
    case 'paper': {
      const content = wanted === undefined ? undefined : papers.openById(accountId, place.id, wanted).content;
      return { ...place, change: content === undefined ? { restore: true } : { content } };
    }
    case 'handoff': {
      if (wanted === undefined) throw invalidField('version', 'version is required; history lists them');
      const { record, content } = handoffOf(handoffs, accountId, place, wanted);
      const { project, topic, date, time } = record;
      return { ...place, save: { project, topic, date, ...(time === null ? {} : { time }), content } };
    }
    case 'file': {
      const vaultId = await vaultOf(shelves, accountId, place);
      if (place.path.endsWith('/'))
        throw invalidField('at', 'at is required for a folder: a time before its files were changed or removed');
      return { ...place, vaultId, seq: wanted ?? (await lastLive(shelves, accountId, vaultId, place.path)) };
    }
    case 'conflict':
      throw invalidField('id', 'settle_conflict ends a conflict; history of the file shows its versions');
    default:
      return place;
  }
}

async function restoreOne(
  { docs, papers, tasks, handoffs, sync, nameOf }: Shelves,
  by: Principal,
  plan: Awaited<ReturnType<typeof toRestore>>,
): Promise<string> {
  const { accountId } = by;
  const name = nameOf(by);
  switch (plan.kind) {
    case 'doc': {
      const made = await docs.update(accountId, { ...referenceOf(plan), ...plan.change }, name);
      return `restored; now version ${made.version}`;
    }
    case 'handoff': {
      const made = await handoffs.save(accountId, plan.save, name);
      return `restored; now version ${made.version}`;
    }
    case 'paper': {
      const { paper } = await papers.patch(accountId, plan.id ?? 0, plan.change, name);
      return `${plan.change.restore === true ? 'is back' : 'restored; now'} version ${paper.version}`;
    }
    case 'task': {
      const task = await tasks.patch(accountId, plan.id, {}, { restore: true, by: name });
      return `is back, version ${task.version}`;
    }
    case 'file': {
      const { path, vaultId, seq } = plan;
      const made = await sync.history.restore(accountId, { path, seq, vaultId, baseSha: undefined, deviceId: name });
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

interface FolderOf {
  readonly vaultId: string;
  /** Empty: the whole vault. */
  readonly folder: string;
}

/** The folder that a path names; undefined: it is or was a file. */
async function folderOf(shelves: Shelves, accountId: string, place: PlaceInVault): Promise<FolderOf | undefined> {
  const vaultId = await vaultOf(shelves, accountId, place);
  const folder = place.path.replace(/\/+$/, '');
  if (folder === '') return { vaultId, folder };
  const { path, folded } = checkPath(folder, 'id');
  const isFile = folder === place.path && shelves.sync.reader.file(vaultId, folded) !== undefined;
  return isFile ? undefined : { vaultId, folder: path };
}

async function restoreFolder(
  shelves: Shelves,
  by: Principal,
  { vaultId, folder }: FolderOf,
  {
    atMs,
    isDry,
    progress,
  }: { readonly atMs: number; readonly isDry: boolean; readonly progress: Progress | undefined },
): Promise<Outcome[]> {
  const results: Outcome[] = [];
  let after: Parameters<Shelves['sync']['asOf']['restore']>[1]['after'];
  do {
    const page = await shelves.sync.asOf.restore(by.accountId, {
      vaultId,
      folder,
      atMs,
      isDry,
      deviceId: shelves.nameOf(by),
      after,
      progress: progress && ((done, total, what) => progress(results.length + done, results.length + total, what)),
    });
    results.push(
      ...page.restored.map((id) => ({ id, done: true, says: 'as it was' })),
      ...page.deleted.map((id) => ({ id, done: true, says: 'deleted, as it came later' })),
      ...page.skipped.map(({ path, reason }) => ({ id: path, done: false, says: reason })),
    );
    after = page.next;
  } while (after !== undefined && results.length < limits.moveFilesMax);
  if (after !== undefined) results.push({ id: folder, done: false, says: 'there are more; call again' });
  return results;
}
