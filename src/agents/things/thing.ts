/** Defines what agents read and change by its id, whatever stores it. Types, and the capabilities that it is built over. */
import type { ActivityLog } from '../../activity/log.ts';
import type { CallerName } from '../../common/principal.ts';
import type { DevDocs } from '../../documents/dev-docs/service.ts';
import type { Handoffs } from '../../documents/handoffs/service.ts';
import type { Papers } from '../../documents/papers/service.ts';
import type { AccountEvents } from '../../events/account-events.ts';
import type { Things } from '../../ids/things.ts';
import type { Find } from '../../search/found.ts';
import type { Sync } from '../../sync/service.ts';
import type { Tasks } from '../../tasks/service.ts';

/** The capabilities that agents work with. */
export interface Shelves {
  readonly things: Things;
  readonly tasks: Tasks;
  readonly docs: DevDocs;
  readonly handoffs: Handoffs;
  readonly papers: Papers;
  readonly sync: Pick<
    Sync,
    'vaults' | 'reader' | 'reading' | 'push' | 'history' | 'asOf' | 'conflicts' | 'merges' | 'comparer'
  >;
  readonly nameOf: CallerName;
  readonly find: Find;
  readonly events: AccountEvents;
  readonly activity: ActivityLog;
}

/** One version of a thing. */
export interface OpenedThing {
  readonly id: string;
  /** What it is, in a word or two. */
  readonly what: string;
  /** The version that was read: guards a change of it. */
  readonly version: number;
  readonly sizeBytes: number;
  /** ISO 8601 UTC. */
  readonly changedAt: string;
  readonly changedBy: string | undefined;
  /** Hash of a file. */
  readonly sha256?: string;
  /** Undefined for bytes that are no text. */
  readonly text: string | undefined;
  readonly bytes?: Buffer;
  /** More to be told in its headline. */
  readonly note?: string;
}

/** A change that was stored. */
export interface Written {
  readonly id: string;
  readonly version: number;
  readonly status: 'created' | 'updated' | 'unchanged';
  /** What the caller may not have meant. */
  readonly note?: string;
}
