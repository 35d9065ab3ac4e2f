/** Opens things by their ids: the same form for documents of every kind, tasks, files of vaults and conflicts. */
import { invalidField, Refusal } from '../../common/fault.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { handoffUri } from '../../documents/handoffs/resources.ts';
import { handoffId } from '../../documents/handoffs/thing.ts';
import { paperUri } from '../../documents/papers/resources.ts';
import { limits } from '../../limits/service.ts';
import { liveFile } from '../../sync/log/file-record.ts';
import { checkPath } from '../../sync/log/paths.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { taskText } from '../../tasks/shown.ts';
import { taskUri } from '../../tasks/thing.ts';
import { foldCase } from '../../text/fold-case.ts';
import { nearestName } from '../../text/nearest.ts';
import { textContentOf } from '../../text/text-content.ts';
import { conflictUri, type DocName, type HandoffRef, type ThingPlace, thingPlaceOf } from './ids.ts';
import type { OpenedThing, Shelves } from './thing.ts';

/** Throws Refusal `not_found`, `path_not_found` or `invalid_fields`. `version`: undefined for the current one. */
export async function openThing(
  shelves: Shelves,
  accountId: string,
  id: string,
  version?: number,
): Promise<{ readonly place: ThingPlace; readonly thing: OpenedThing }> {
  const place = thingPlaceOf(id);
  return { place, thing: await openThingAt(shelves, accountId, place, version) };
}

export async function openThingAt(
  shelves: Shelves,
  accountId: string,
  place: ThingPlace,
  version?: number,
): Promise<OpenedThing> {
  switch (place.kind) {
    case 'doc':
      return await docThing(shelves, accountId, place, version);
    case 'handoff':
      return handoffThing(shelves, accountId, place, version);
    case 'paper':
      return paperThing(shelves, accountId, place.id, version);
    case 'task':
      return taskThing(shelves, accountId, place.id);
    case 'conflict':
      return await conflictThing(shelves, accountId, place.id);
    case 'file':
      return await fileThing(shelves, accountId, place, version);
  }
}

async function docThing(
  { docs }: Shelves,
  accountId: string,
  name: DocName,
  version: number | undefined,
): Promise<OpenedThing> {
  try {
    const { record, shown, content } = docs.get(accountId, { ...referenceOf(name), version });
    return {
      id: docUri(record),
      what: record.content_type,
      version: shown.version,
      sizeBytes: shown.size_bytes,
      changedAt: shown.created_at,
      changedBy: shown.changed_by,
      text: content,
      ...(shown.version === record.version ? {} : { note: `now at version ${record.version}` }),
    };
  } catch (error) {
    throw 'title' in name ? await withNearestDoc(docs, accountId, name, error) : error;
  }
}

/** The name without what else its holder has. */
export function referenceOf(name: DocName): DocName {
  return 'title' in name ? { category: name.category, title: name.title } : { id: name.id };
}

/** An unknown title is refused with the nearest known one. */
async function withNearestDoc(
  docs: Shelves['docs'],
  accountId: string,
  { category, title }: { readonly category: string; readonly title: string },
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Refusal) || (error.fault.kind !== 'not_found' && error.fault.kind !== 'invalid_fields'))
    return error;
  const { docs: all } = await docs.list(accountId, { limit: limits.devDocListMax });
  const here = all.filter((one) => one.category === category.toLowerCase());
  const guess =
    nearestName(
      title,
      here.map((one) => one.title),
    ) ??
    nearestName(
      title,
      all.map((one) => one.title),
    );
  const found = all.find((one) => one.title === guess);
  if (found === undefined) return error;
  return new Refusal({ kind: 'not_found', what: `no dev doc ${category}/${title}; did you mean ${docUri(found)}?` });
}

function handoffThing(
  { handoffs }: Shelves,
  accountId: string,
  name: HandoffRef,
  version: number | undefined,
): OpenedThing {
  try {
    const { record, shown, content } = handoffOf(handoffs, accountId, name, version);
    return {
      id: handoffId(record),
      what: 'handoff',
      version: shown.version,
      sizeBytes: shown.size_bytes,
      changedAt: shown.created_at,
      changedBy: shown.changed_by,
      text: content,
      note: `${record.project} / ${record.topic} of ${record.date}${record.time === null ? '' : ` ${record.time}`} KST`,
    };
  } catch (error) {
    if (!(error instanceof Refusal) || error.fault.kind !== 'not_found' || !('project' in name)) throw error;
    const { project, topic } = name;
    const all = handoffs.page(accountId, { limit: limits.handoffListMax }).handoffs;
    const inProject = all.filter((one) => foldCase(one.project) === foldCase(project));
    const guess =
      nearestName(
        topic,
        inProject.map((one) => one.topic),
      ) ??
      nearestName(
        project,
        all.map((one) => one.project),
      );
    const found = [...inProject, ...all].find((one) => one.topic === guess || one.project === guess);
    if (found === undefined) throw error;
    throw new Refusal({
      kind: 'not_found',
      what: `no handoff ${project}/${topic}; did you mean ${handoffUri(found)}?`,
    });
  }
}

/** Throws Refusal `not_found`. `version`: undefined for the current one. */
export function handoffOf(handoffs: Shelves['handoffs'], accountId: string, name: HandoffRef, version?: number) {
  if ('id' in name) return handoffs.openById(accountId, name.id, version);
  return handoffs.get(accountId, { project: name.project, topic: name.topic, version });
}

function paperThing(
  { papers }: Shelves,
  accountId: string,
  id: number | undefined,
  version: number | undefined,
): OpenedThing {
  if (id === undefined)
    throw invalidField('id', 'cairn://papers/new is only for write; list with in "papers" shows ids');
  const { paper, content = '' } = papers.get(accountId, id);
  if (version !== undefined && version !== paper.version) {
    throw invalidField('version', `papers keep no earlier versions; this one is at version ${paper.version}`);
  }
  return {
    id: paperUri(id),
    what: paper.published ? 'published paper' : 'draft paper',
    version: paper.version,
    sizeBytes: paper.size_bytes,
    changedAt: paper.updated_at,
    changedBy: paper.changed_by,
    text: content,
    note: JSON.stringify(paper.title),
  };
}

function taskThing({ tasks }: Shelves, accountId: string, id: number): OpenedThing {
  const task = tasks.get(accountId, id);
  const text = taskText(task, (one) => tasks.categories.nameOf(accountId, one));
  return {
    id: taskUri(id),
    what: 'task',
    version: task.version,
    sizeBytes: Buffer.byteLength(text),
    changedAt: task.updated_at,
    changedBy: task.changed_by,
    text,
  };
}

async function conflictThing({ sync }: Shelves, accountId: string, conflictId: string): Promise<OpenedThing> {
  const { vaultId, conflict } = sync.conflicts.sides(accountId, undefined, conflictId);
  const merged = await sync.merges.merge(accountId, { conflict_id: conflictId, vault_id: vaultId });
  const { record } = conflict;
  const marks =
    merged.conflicts === 0 ? 'it merges without overlaps' : `${merged.conflicts} parts overlap and are marked`;
  const note =
    record.status !== 'pending'
      ? `this conflict was ${record.status}`
      : merged.deleted
        ? 'one side deleted the file; settle_conflict with keep'
        : merged.content === undefined
          ? 'the sides cannot be shown as one text; settle_conflict with keep'
          : `${marks}; settle_conflict with text (the merge) or keep`;
  const text = merged.content?.encoding === 'base64' ? undefined : merged.content?.text;
  return {
    id: conflictUri(conflictId),
    what: `conflict of ${fileName({ sync }, accountId, vaultId, record.path)}, pushed by ${record.device_id}`,
    version: merged.live?.seq ?? 0,
    sizeBytes: Buffer.byteLength(text ?? ''),
    changedAt: record.detected_at,
    changedBy: record.device_id,
    text: text ?? '',
    note,
  };
}

/** What a file is called: its path in the primary vault, its whole id in another. */
export function fileName({ sync }: Pick<Shelves, 'sync'>, accountId: string, vaultId: string, path: string): string {
  return sync.reader.primaryOf(accountId) === vaultId ? path : fileUri(vaultId, path);
}

/** The vault of a place: by its id, or by its name. Throws Refusal `invalid_fields`. */
export async function vaultOf(
  { sync }: Pick<Shelves, 'sync'>,
  accountId: string,
  vault: string | undefined,
): Promise<string> {
  const named =
    vault === undefined
      ? undefined
      : sync.vaults.list(accountId).find(({ record }) => foldCase(record.name) === foldCase(vault));
  return await sync.vaults.idOf(accountId, named?.id ?? vault);
}

async function fileThing(
  shelves: Shelves,
  accountId: string,
  { vault, path }: Extract<ThingPlace, { kind: 'file' }>,
  version: number | undefined,
): Promise<OpenedThing> {
  const { sync } = shelves;
  const vaultId = await vaultOf(shelves, accountId, vault);
  if (path === '' || path.endsWith('/')) {
    throw invalidField(
      'id',
      `${path === '' ? 'this' : path} is a folder; list with in ${JSON.stringify(fileUri(vaultId, path))} shows its files`,
    );
  }
  const { folded } = checkPath(path, 'id');
  const file = sync.reader.file(vaultId, folded);
  const live = liveFile(file);
  if (version === undefined && live === undefined) throw await noFile(shelves, accountId, { vaultId, path, folded });
  if (file === undefined) throw await noFile(shelves, accountId, { vaultId, path, folded });
  const seq = version ?? file.seq;
  if (version !== undefined && !sync.history.has(vaultId, file, version)) {
    throw invalidField('version', `version ${version} of ${file.path} is not kept; history shows those that are`);
  }
  const meta = sync.reader.versionMeta(vaultId, seq);
  const bytes = sync.reader.content(vaultId, seq);
  if (meta === undefined || bytes === undefined) {
    throw invalidField('version', `version ${seq} is where ${file.path} was deleted; read an older one`);
  }
  return {
    id: fileName(shelves, accountId, vaultId, file.path),
    what: 'file',
    version: seq,
    sizeBytes: bytes.length,
    changedAt: meta.stored_at,
    changedBy: meta.device_id,
    sha256: meta.sha256,
    text: textContentOf(bytes),
    bytes,
    ...(seq === file.seq ? {} : { note: `now at version ${file.seq}` }),
  };
}

/** The refusal of a path without a file: deleted, a folder, or with the path that was probably meant. */
async function noFile(
  { sync }: Shelves,
  accountId: string,
  { vaultId, path, folded }: { readonly vaultId: string; readonly path: string; readonly folded: string },
): Promise<Refusal> {
  const file = sync.reader.file(vaultId, folded);
  if (file !== undefined) {
    const at = new Date(file.stored_ms).toISOString();
    return new Refusal({ kind: 'not_found', what: `${file.path} was deleted at ${at}; restore brings it back` });
  }
  if (sync.reader.childrenOf(vaultId, folded) > 0) {
    return invalidField(
      'id',
      `${path} is a folder; list with in ${JSON.stringify(`${fileUri(vaultId, path)}/`)} shows its files`,
    );
  }
  const name = path.split('/').at(-1) ?? path;
  const page = await sync.reading.fileLists.list(
    { accountId, vaultId },
    { prefix: undefined, glob: undefined, includeDeleted: false, limit: limits.listPageMax, after: undefined },
  );
  const paths = page.files.map(({ file: one }) => one.path);
  const guess =
    nearestName(path, paths) ?? paths.find((one) => foldCase(one.split('/').at(-1) ?? '') === foldCase(name));
  const next = guess === undefined ? 'list and search show what is there' : `did you mean ${guess}?`;
  return new Refusal({ kind: 'not_found', what: `no file ${path} in this vault; ${next}` });
}
