/**
 * Defines how the state of a folder is written: lines of changes, each of which is whole or not there. Maps are rows, so
 * that a file may have any name (even `__proto__`). Reads the two earlier forms as well. Pure.
 */
import { z } from 'zod';
import type { SeenFile } from '../folder/file.ts';
import { checkFolderPath, type FolderPath, isBad } from '../folder/path.ts';
import { NameMap } from './name-map.ts';
import type { RecentChange } from './recent.ts';
import type { BaseRecord, Sha, SyncState, Wait } from './state.ts';

export type StateHead = Omit<SyncState, 'base' | 'waits' | 'foreign' | 'sent' | 'recent'>;

interface OwnedMaps {
  readonly base: NameMap<BaseRecord>;
  readonly waits: NameMap<Wait>;
  readonly foreign: Map<string, string>;
  readonly sent: Map<FolderPath, ReadonlySet<Sha>>;
  readonly recent: Map<FolderPath, RecentChange>;
}

export type OwnedState = StateHead & OwnedMaps;

/** What changed since the last line; null: forgotten. */
export interface StateChanges {
  readonly head?: Partial<StateHead> | undefined;
  readonly base?: readonly (readonly [string, BaseRecord | null])[];
  readonly waits?: readonly (readonly [string, Wait | null])[];
  readonly foreign?: readonly (readonly [string, string | null])[];
  readonly sent?: readonly (readonly [string, Iterable<Sha> | null])[];
  readonly recent?: readonly (readonly [string, RecentChange | null])[];
}

const shaSchema = z.string().nullable();
const seenSchema = z.object({
  bytes: z.number(),
  modifiedMs: z.number(),
  changedMs: z.number(),
  inode: z.number(),
  hashedMs: z.number(),
});
const baseSchema = z.object({
  sha256: z.string(),
  executable: z.boolean().optional(),
  seen: seenSchema.optional(),
  storedMs: z.number().optional(),
  isExcluded: z.boolean().optional(),
});
const waitSchema = z.object({
  kind: z.enum(['conflict', 'hub', 'push', 'download', 'held']),
  remote: shaSchema,
  local: shaSchema,
  conflictId: z.string().nullable(),
  isUnsent: z.boolean().optional(),
  reason: z.string(),
  other: z.object({ device: z.string(), storedMs: z.number() }).optional(),
  lines: z.object({ here: z.number(), there: z.number() }).optional(),
  failed: z.object({ inRow: z.number(), lastMs: z.number() }).optional(),
});
const recentSchema = z.object({
  what: z.enum(['created', 'deleted', 'rewritten']),
  way: z.enum(['sent', 'received']),
  atMs: z.number(),
});
const clockSchema = z.object({ ms: z.number(), counter: z.number(), node: z.string() });
const headSchema = z.object({
  server: z.string(),
  vault_id: z.string(),
  vault_name: z.string().optional(),
  device_id: z.string(),
  inode: z.number().nullable(),
  cursor: z.string().nullable(),
  own: z.array(z.tuple([z.number(), z.number()])),
  clock: clockSchema,
  only: z.array(z.string()),
  mounts: z.array(z.string()),
});
/** `records`: the file of the lines. Its first `whole` bytes were written before this; later lines may be cut off. */
const currentSchema = headSchema.extend({ version: z.literal(3), records: z.string(), whole: z.number() });
const secondSchema = headSchema.extend({
  version: z.literal(2),
  own: headSchema.shape.own.default([]),
  mounts: headSchema.shape.mounts.default([]),
  foreign: z.array(z.tuple([z.string(), z.string()])).default([]),
  base: z.array(z.tuple([z.string(), baseSchema])),
  waits: z.array(z.tuple([z.string(), waitSchema])),
  sent: z.array(z.tuple([z.string(), z.array(shaSchema)])),
});
/** Version 1, from before paths could have any name. */
const firstSchema = headSchema
  .pick({ server: true, vault_id: true, device_id: true, cursor: true, clock: true })
  .extend({ version: z.literal(1), base: z.record(z.string(), baseSchema) });
const lineSchema = z.object({
  head: headSchema.partial().optional(),
  base: z.unknown().optional(),
  waits: z.array(z.tuple([z.string(), waitSchema.nullable()])).optional(),
  foreign: z.array(z.tuple([z.string(), z.string().nullable()])).optional(),
  sent: z.array(z.tuple([z.string(), z.array(shaSchema).nullable()])).optional(),
  recent: z.array(z.tuple([z.string(), recentSchema.nullable()])).optional(),
});
const sentLineSchema = z.union([
  z.tuple([z.string(), shaSchema]),
  z.tuple([z.string(), z.string(), z.literal('agreed')]),
]);

/** What `state.json` says: all of an earlier form, or the head and where the lines are. */
export type ReadForm =
  | { readonly state: OwnedState; readonly records?: undefined }
  | { readonly state: OwnedState; readonly records: string; readonly whole: number };

/** The text of `state.json`. The server and the vault come first: others read only the beginning. */
export function headText({ server, vault_id, ...head }: StateHead, records: string, whole: number): string {
  return `${JSON.stringify({ version: 3, server, vault_id, records, whole, ...head })}\n`;
}

/** Reads `state.json`. Throws when it is no state. */
export function readForm(document: unknown): ReadForm {
  const { version } = z.object({ version: z.number() }).parse(document);
  if (version === 3) {
    const { version: _, records, whole, ...head } = currentSchema.parse(document);
    return { state: { ...head, ...emptyMaps() }, records, whole };
  }
  if (version === 1) {
    const { version: _, base, ...head } = firstSchema.parse(document);
    const rest = { inode: null, only: [], own: [], mounts: [] };
    return { state: { ...head, ...rest, ...emptyMaps(), base: new NameMap(checked(Object.entries(base))) } };
  }
  const { version: _, base, waits, foreign, sent, ...head } = secondSchema.parse(document);
  return {
    state: {
      ...head,
      base: new NameMap(checked(base)),
      waits: new NameMap(checked(waits)),
      foreign: new Map(foreign),
      sent: new Map(checked(sent.map(([path, shas]) => [path, new Set(shas)]))),
      recent: new Map(),
    },
  };
}

/** One line of changes, without its end. */
export function changesText({ base, sent, ...rest }: StateChanges): string {
  return JSON.stringify({
    ...rest,
    ...(base && { base: base.map(([path, record]) => [path, ...(record === null ? [] : rowOf(record))]) }),
    ...(sent && { sent: sent.map(([path, shas]) => [path, shas && [...shas]]) }),
  });
}

/** The state after a line of changes. Throws, and changes nothing, when it is none. */
export function withChanges(state: OwnedState, text: string): OwnedState {
  const { head, base = [], waits = [], foreign = [], sent = [], recent = [] } = lineSchema.parse(JSON.parse(text));
  if (!Array.isArray(base)) throw new Error('these are no rows of a state');
  const rows = base.map(recordOf);
  for (const [path, record] of checked(rows)) put(state.base, path, record);
  for (const [path, wait] of checked(waits)) put(state.waits, path, wait ?? undefined);
  for (const [path, reason] of foreign) put(state.foreign, path, reason ?? undefined);
  for (const [path, shas] of checked(sent)) put(state.sent, path, shas === null ? undefined : new Set(shas));
  for (const [path, change] of checked(recent)) put(state.recent, path, change ?? undefined);
  return Object.assign({ ...state }, head);
}

/** The state after a line of the earlier journal of what was sent. Throws when it is none. */
export function withSentLine(state: OwnedState, text: string): void {
  const [given, sha, isAgreed] = sentLineSchema.parse(JSON.parse(text));
  for (const [path] of checked([[given, sha]])) {
    if (isAgreed !== undefined && sha !== null) {
      state.base.set(path, { sha256: sha });
      state.waits.delete(path);
      state.sent.delete(path);
    } else state.sent.set(path, new Set([...(state.sent.get(path) ?? []), sha]));
  }
}

/** Hash, executable bit, when the hub stored it, whether it is excluded, and metadata (last, 1: as placed): as short as it can be. */
function rowOf({ sha256, executable, seen, storedMs, isExcluded }: BaseRecord): unknown[] {
  const bit = executable === undefined ? null : Number(executable);
  const head = [sha256, bit, storedMs ?? null, isExcluded === true ? 1 : 0];
  if (seen === undefined) return head;
  const { bytes, modifiedMs, changedMs, inode, hashedMs, isPlaced } = seen;
  return [...head, bytes, modifiedMs, changedMs, inode, hashedMs, ...(isPlaced === true ? [1] : [])];
}

/** Reads a row, undefined for one that is forgotten; by hand, since there is one for each file. Throws when it is none. */
function recordOf(row: unknown): readonly [string, BaseRecord | undefined] {
  if (!Array.isArray(row)) throw new Error('this is no row of a state');
  const [path, sha256, bit, storedMs, excluded, ...seen] = row as unknown[];
  if (typeof path === 'string' && row.length === 1) return [path, undefined];
  const isRow = typeof path === 'string' && typeof sha256 === 'string' && seen.every((one) => typeof one === 'number');
  if (!isRow || !(storedMs === null || typeof storedMs === 'number')) throw new Error('this is no row of a state');
  const record = {
    sha256,
    executable: bit === null ? undefined : bit === 1,
    seen: seenOfRow(seen),
    storedMs: storedMs ?? undefined,
    isExcluded: excluded === 1 ? true : undefined,
  };
  return [path, record];
}

function seenOfRow([bytes, modifiedMs, changedMs, inode, hashedMs, placed]: readonly number[]): SeenFile | undefined {
  const isWhole = bytes !== undefined && modifiedMs !== undefined && changedMs !== undefined;
  if (!isWhole || inode === undefined || hashedMs === undefined) return undefined;
  return { bytes, modifiedMs, changedMs, inode, hashedMs, isPlaced: placed === 1 ? true : undefined };
}

function emptyMaps(): OwnedMaps {
  return { base: new NameMap(), waits: new NameMap(), foreign: new Map(), sent: new Map(), recent: new Map() };
}

function* checked<T>(rows: Iterable<readonly [string, T]>): Generator<[FolderPath, T]> {
  for (const [path, value] of rows) {
    const found = checkFolderPath(path);
    if (!isBad(found)) yield [found, value];
  }
}

function put<K, V>(records: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) records.delete(key);
  else records.set(key, value);
}
