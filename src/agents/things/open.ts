/** Opens what agents name: things by their ids, conflicts, and files by their paths in the primary vault. */
import { invalidField, Refusal } from '../../common/fault.ts';
import { plural } from '../../gateway/words.ts';
import type { Thing } from '../../ids/thing.ts';
import type { Variables } from '../../ids/uri.ts';
import { isChunked } from '../../limits/large-file.ts';
import type { ConflictSides } from '../../sync/conflicts/sides.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import { checkPath } from '../../sync/log/paths.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { PRIMARY_NAME } from '../../sync/vaults/vaults.ts';
import { foldCase } from '../../text/fold-case.ts';
import { nearestName } from '../../text/nearest.ts';
import { textContentOf } from '../../text/text-content.ts';
import {
  conflictUri,
  type DocName,
  type DocTitle,
  type HandoffRef,
  type HandoffTopic,
  type PlaceInVault,
  type ThingPlace,
  thingPlaceOf,
} from './ids.ts';
import { meantPlace, orMeant } from './meant.ts';
import type { OpenedThing, Shelves } from './thing.ts';

/** Throws Refusal `not_found` or `invalid_fields`. `version`: undefined for the current one. */
export async function openThing(
  shelves: Shelves,
  accountId: string,
  id: string,
  version?: number,
): Promise<OpenedThing> {
  return await openThingAt(shelves, accountId, thingPlaceOf(id), version);
}

/** As `openThing`, by what an id names. */
export async function openThingAt(
  shelves: Shelves,
  accountId: string,
  place: ThingPlace,
  version?: number,
): Promise<OpenedThing> {
  const { things } = shelves;
  switch (place.kind) {
    case 'conflict':
      return await conflictThing(shelves, accountId, place.id);
    case 'file':
      return await orMeant(shelves, accountId, place, () => fileThing(shelves, accountId, place, version));
    case 'paper':
      if (place.id === undefined)
        throw invalidField('id', 'cairn://papers/new is only for write; list with in "papers" shows ids');
      return openedWhole(things.openNamed(accountId, 'paper', { id: String(place.id) }, version));
    default:
      return openedWhole(things.openNamed(accountId, place.kind, namedBy(place), version));
  }
}

/** What an id of a task, dev doc or handoff says. */
function namedBy(place: { readonly id: number } | DocTitle | HandoffTopic): Variables {
  if ('id' in place) return { id: String(place.id) };
  if ('title' in place) return { category: place.category, title: place.title };
  return { project: place.project, topic: place.topic };
}

function openedWhole(thing: Thing): OpenedThing {
  return openedOf(thing, thing.text());
}

function openedOf(thing: Thing, text: string | undefined): OpenedThing {
  const { id, what, version, sizeBytes, changedMs, changedBy, note } = thing;
  return {
    id,
    what,
    version,
    sizeBytes,
    changedAt: new Date(changedMs).toISOString(),
    changedBy,
    text,
    ...(note === undefined ? {} : { note }),
  };
}

/** The name without what else its holder has. */
export function referenceOf(name: DocName): DocName {
  return 'title' in name ? { category: name.category, title: name.title } : { id: name.id };
}

/** Throws Refusal `not_found`. `version`: undefined for the current one. */
export function handoffOf(handoffs: Shelves['handoffs'], accountId: string, name: HandoffRef, version?: number) {
  if ('id' in name) return handoffs.openById(accountId, name.id, version);
  return handoffs.get(accountId, { project: name.project, topic: name.topic, version });
}

async function conflictThing({ sync }: Shelves, accountId: string, conflictId: string): Promise<OpenedThing> {
  const sides = sync.conflicts.sides(accountId, undefined, conflictId);
  const { vaultId, conflict } = sides;
  if (sides.yours?.source !== undefined || sides.current?.content.source !== undefined) {
    return largeConflict(fileName({ sync }, accountId, vaultId, conflict.record.path), sides);
  }
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

/** A conflict with a large side: what each is, and where its bytes are, instead of a text. */
function largeConflict(name: string, { vaultId, conflict, yours, current }: ConflictSides): OpenedThing {
  const { id, record } = conflict;
  const page = `/vaults/${vaultId}/conflicts/${id}`;
  const sideOf = (bytes: number, sha256: string | null, by: Pick<FileRecord, 'device_id' | 'mtime'>, at: string) =>
    `${bytes} bytes, sha256 ${sha256}, by ${by.device_id}, ${by.mtime === null ? '' : `file of ${by.mtime}, `}${at}, download ${page}`;
  const pushed =
    yours === undefined
      ? `deletes the file, by ${record.device_id}, ${record.detected_at}`
      : `${sideOf(yours.sizeBytes, record.your_sha256, record, `pushed ${record.detected_at}`)}/yours`;
  const now = current?.record;
  const kept =
    now === undefined
      ? 'no file: it is deleted'
      : `${sideOf(now.size_bytes, now.sha256, now, `stored ${new Date(now.stored_ms).toISOString()}`)}/theirs`;
  return {
    id: conflictUri(id),
    what: `conflict of ${name}, pushed by ${record.device_id}`,
    version: now?.seq ?? 0,
    sizeBytes: yours?.sizeBytes ?? 0,
    changedAt: record.detected_at,
    changedBy: record.device_id,
    text: `current: ${kept}\npushed: ${pushed}\n`,
    note:
      record.status === 'pending'
        ? 'too large to merge; settle_conflict with keep: current, pushed, or both as two files'
        : `this conflict was ${record.status}`,
  };
}

/** What a file is called: its path in the primary vault, its whole id in another. */
export function fileName({ sync }: Pick<Shelves, 'sync'>, accountId: string, vaultId: string, path: string): string {
  return sync.reader.primaryOf(accountId) === vaultId ? path : fileUri(vaultId, path);
}

/**
 * The vault of a place: by its id, or by its name. Makes none: what only reads leaves nothing behind. Throws Refusal
 * `invalid_fields`, with the nearest name, and `not_found` while there is no primary one.
 */
export async function vaultOf(
  shelves: Pick<Shelves, 'sync'>,
  accountId: string,
  { vault, path }: Pick<PlaceInVault, 'vault' | 'path'>,
): Promise<string> {
  return vault === undefined
    ? await primaryVault(shelves, accountId, path)
    : namedVault(shelves.sync, accountId, vault);
}

async function primaryVault(shelves: Pick<Shelves, 'sync'>, accountId: string, path: string): Promise<string> {
  const { vaults, reader } = shelves.sync;
  if (reader.primaryOf(accountId) !== undefined) return await vaults.idOf(accountId, undefined);
  const all = vaults.list(accountId);
  // One of this name becomes the primary one.
  if (all.some(({ record }) => foldCase(record.name) === PRIMARY_NAME)) return await vaults.idOf(accountId, undefined);
  const others = all.slice(0, VAULTS_TOLD).map(({ id, record }) => `${fileUri(id, '')} (${record.name})`);
  const meant = meantPlace(shelves, accountId, path);
  const next = meant === undefined ? `name one: ${others.join(', ')}` : `did you mean ${meant.id}?`;
  const what = 'there is no primary vault yet, where paths without a vault go; the first write makes it';
  throw new Refusal({ kind: 'not_found', what: all.length === 0 ? what : `${what}; ${next}` });
}

function namedVault({ vaults }: Shelves['sync'], accountId: string, vault: string): string {
  const all = vaults.list(accountId);
  const named = all.find(({ id, record }) => id === vault || foldCase(record.name) === foldCase(vault));
  if (named !== undefined) return named.id;
  const guess = nearestName(
    vault,
    all.map(({ record }) => record.name),
  );
  const next = guess === undefined ? 'list with in "vaults" shows them' : `did you mean ${guess}?`;
  throw invalidField('id', `this account has no vault ${vault}; ${next}`);
}

const VAULTS_TOLD = 3;

async function fileThing(
  shelves: Shelves,
  accountId: string,
  { vault, path }: PlaceInVault,
  version: number | undefined,
): Promise<OpenedThing> {
  const vaultId = await vaultOf(shelves, accountId, { vault, path });
  if (path === '' || path.endsWith('/')) {
    throw invalidField(
      'id',
      `${path === '' ? 'this' : path} is a folder; list with in ${JSON.stringify(fileUri(vaultId, path))} shows its files`,
    );
  }
  const checked = checkPath(path, 'id');
  const opened = shelves.things.openNamed(accountId, 'file', { vault: vaultId, path: checked.path }, version);
  const pending =
    version === undefined ? pendingNote(shelves.sync.reader.pendingOf(vaultId, checked.folded)) : undefined;
  const thing = pending === undefined ? opened : { ...opened, note: joined(opened.note, pending) };
  if (isChunked(thing.sizeBytes)) {
    const { vault_id: id, path: stored, sha256 } = thing.facts;
    const link = `/vaults/${String(id)}/bytes?path=${encodeURIComponent(String(stored))}&seq=${thing.version}`;
    const note = `too large to show; download ${link}, or its chunks with sync_pull and chunks: true`;
    return {
      ...openedOf(thing, undefined),
      id: fileName(shelves, accountId, vaultId, String(stored)),
      sha256: String(sha256),
      note: joined(thing.note, note),
    };
  }
  const bytes = thing.bytes?.() ?? Buffer.alloc(0);
  return {
    // Also the text of a file that a client sent as bytes.
    ...openedOf(thing, textContentOf(bytes)),
    id: fileName(shelves, accountId, vaultId, String(thing.facts['path'])),
    sha256: String(thing.facts['sha256']),
    bytes,
  };
}

function joined(note: string | undefined, more: string): string {
  return note === undefined ? more : `${note}; ${more}`;
}

/** Says that a file is not all: a change of it waits to be settled. Undefined: none does. */
function pendingNote(pending: readonly { readonly id: string }[]): string | undefined {
  if (pending.length === 0) return undefined;
  const ids = pending.map(({ id }) => conflictUri(id)).join(', ');
  return `${plural(pending.length, 'pending conflict')}: read ${ids}, then settle_conflict`;
}
