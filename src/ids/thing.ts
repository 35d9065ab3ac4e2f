/**
 * Defines things: whatever an account keeps that has an id `cairn://…`. Each capability declares its kinds in its
 * `thing.ts`; reading by id and the search index follow from that one declaration.
 */
import type { Refusal } from '../common/fault.ts';
import type { AnyTable, Key, Reader, Walkable } from '../store/table.ts';
import type { Variables } from './uri.ts';

export const THING_KINDS = ['task', 'doc', 'handoff', 'paper', 'file', 'backup'] as const;

export type ThingKindName = (typeof THING_KINDS)[number];

/** What kinds read from: the open store, in any thread. */
export type ThingReader = Reader & Walkable;

/** One value that describes a thing, beside its text. */
type ThingFact = string | number | boolean | null;

export interface Thing {
  /** Its URI. */
  readonly id: string;
  readonly kind: ThingKindName;
  /** What it is, in a word or two. */
  readonly what: string;
  /** Names it within its kind and account; never seen outside. */
  readonly key: string;
  /** How it is called: the first line of a task, the title of a document, the last part of a path. */
  readonly title: string;
  /** Where it is: a path in a vault, a category, a project. */
  readonly place: string;
  /** What it is searched among when only things of its sort are wanted, such as the category of a dev doc. */
  readonly group?: string;
  /** Its page on the hub. */
  readonly path: string;
  readonly mimeType: string;
  /** Milliseconds since 1970. */
  readonly changedMs: number;
  /** Who changed it; undefined: unknown. */
  readonly changedBy: string | undefined;
  /** Bytes of the text or the content. */
  readonly sizeBytes: number;
  /** The version that this is: guards a change of it. */
  readonly version: number;
  /** More of it in a few words. */
  readonly note?: string;
  /** Differs after each change. */
  readonly stamp: number;
  /** What a caller needs to know or to change it, such as `version`. */
  readonly facts: Readonly<Record<string, ThingFact>>;
  /** The whole text; undefined: it has none, such as a binary file. Throws Refusal `damaged`. */
  readonly text: () => string | undefined;
  /** The content of a file. Throws Refusal `damaged`. */
  readonly bytes?: () => Buffer;
}

/** Tells which thing a written row of a table belongs to. */
interface ThingRows {
  readonly table: AnyTable;
  /** The key of the thing; undefined: the row is no part of one. */
  readonly keyOf: (row: Key) => string | undefined;
}

export interface ThingKind {
  readonly kind: ThingKindName;
  /** URIs of such things; the first is the one that things are shown with. */
  readonly templates: readonly string[];
  /** The key of the thing that a URI names. It need not exist. */
  find(reader: ThingReader, accountId: string, variables: Variables): string | undefined;
  /**
   * A live thing; undefined when there is none, or it is in the trash. `version`: undefined for the current one. Throws
   * Refusal `not_found` or `invalid_fields` when that version is not kept.
   */
  read(reader: ThingReader, accountId: string, key: string, version?: number): Thing | undefined;
  /** What to say of a URI of this kind that names nothing, when more is known: it is in the trash, or another was meant. */
  unknown?(reader: ThingReader, accountId: string, variables: Variables): Refusal | undefined;
  /** The keys of all such things, and of some that are in the trash: in one order, from the one after `after` on. */
  keys(reader: ThingReader, accountId: string, after?: string): Generator<string>;
  /** The tables whose rows make up such things. The first part of a key is the account, or a vault of it. */
  readonly writtenBy: readonly ThingRows[];
  /** A table of which one row holds many such things: they go with it. The first part of a key is the account. */
  readonly heldBy?: AnyTable;
}

/** Combines the time and the version of a record to a number that differs after each change. */
export function thingStamp(changedMs: number, version: number): number {
  return changedMs * STAMP_VERSIONS + (version % STAMP_VERSIONS);
}

const STAMP_VERSIONS = 1024;
