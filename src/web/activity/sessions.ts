/** Groups changes into sessions: what one device, agent or browser did without a long pause. Pure. */
import type { ChangeAct } from '../../activity/records.ts';
import type { FileChangeRef, RecordChangeRef } from '../../events/logs.ts';

/** What a person filters by. */
export const ENTRY_KINDS = ['files', 'tasks', 'documents', 'account'] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** A change of a file, with the name of its vault. */
export interface FileRef extends FileChangeRef {
  readonly vault: string;
}

type EntryRef = FileRef | RecordChangeRef | { readonly of: 'event' };

export interface ActivityEntry {
  readonly atMs: number;
  readonly kind: EntryKind;
  readonly act: ChangeAct | 'moved' | 'event';
  /** Who did it; null: unknown. */
  readonly by: string | null;
  readonly name: string;
  /** What the same task, document or file has in all its entries. */
  readonly item: string;
  readonly ref: EntryRef;
}

export interface Session {
  readonly by: string | null;
  /** Newest first. */
  readonly entries: readonly ActivityEntry[];
  readonly firstMs: number;
  readonly lastMs: number;
  /** It may have begun earlier: the list ends here. */
  readonly isCut: boolean;
}

export interface SessionPage {
  /** Newest first, by their last change. */
  readonly sessions: readonly Session[];
  /** Entries before this time, in milliseconds, are on the next page; undefined: there are none. */
  readonly nextMs: number | undefined;
}

interface Bounds {
  readonly gapMs: number;
  readonly sessionsMax: number;
  readonly entriesMax: number;
}

interface Growing {
  readonly by: string | null;
  readonly entries: ActivityEntry[];
  firstMs: number;
  readonly lastMs: number;
}

/** Takes entries, newest first, until the page is full. Entries of one millisecond stay together. */
export class SessionGrouping {
  readonly #bounds: Bounds;
  readonly #sessions: Growing[] = [];
  readonly #newestOf = new Map<string | null, Growing>();
  #entries = 0;
  #lastMs = Number.POSITIVE_INFINITY;
  #nextMs: number | undefined;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Returns false when the page is full: this entry is not on it, and no later one is. */
  take(entry: ActivityEntry): boolean {
    const { gapMs, sessionsMax, entriesMax } = this.#bounds;
    const { by, atMs } = entry;
    const known = this.#newestOf.get(by);
    const session = known !== undefined && known.firstMs - atMs <= gapMs ? known : undefined;
    const isFull = this.#entries >= entriesMax || (session === undefined && this.#sessions.length >= sessionsMax);
    if (isFull && atMs < this.#lastMs) {
      this.#nextMs = atMs + 1;
      return false;
    }
    this.#entries += 1;
    this.#lastMs = atMs;
    if (session !== undefined) {
      session.entries.push(entry);
      session.firstMs = atMs;
      return true;
    }
    const made = { by, entries: [entry], firstMs: atMs, lastMs: atMs };
    this.#sessions.push(made);
    this.#newestOf.set(by, made);
    return true;
  }

  page(): SessionPage {
    const nextMs = this.#nextMs;
    const isOpen = (session: Growing) =>
      nextMs !== undefined &&
      session.firstMs - nextMs < this.#bounds.gapMs &&
      this.#newestOf.get(session.by) === session;
    return { sessions: this.#sessions.map((session) => ({ ...session, isCut: isOpen(session) })), nextMs };
  }
}

/** How many things of each kind a session changed, and how many of them it deleted in the end. */
export interface SessionCounts {
  readonly files: number;
  readonly tasks: number;
  readonly documents: number;
  readonly account: number;
  readonly deleted: number;
}

export function countsOf(entries: readonly ActivityEntry[]): SessionCounts {
  const counts = { files: 0, tasks: 0, documents: 0, account: 0, deleted: 0 };
  const seen = new Set<string>();
  // Newest first: the first entry of an item is what it came to.
  for (const { item, kind, act } of entries) {
    if (seen.has(item)) continue;
    seen.add(item);
    if (act === 'deleted') counts.deleted += 1;
    else counts[kind] += 1;
  }
  return counts;
}

const NOUNS: readonly (readonly [keyof SessionCounts, one: string, many: string])[] = [
  ['files', 'file', 'files'],
  ['tasks', 'task', 'tasks'],
  ['documents', 'document', 'documents'],
  ['account', 'account event', 'account events'],
  ['deleted', 'deleted', 'deleted'],
];

/** `6 files, 3 tasks, 1 deleted`. */
export function countsText(counts: SessionCounts): string {
  return NOUNS.filter(([kind]) => counts[kind] > 0)
    .map(([kind, one, many]) => `${counts[kind]} ${counts[kind] === 1 ? one : many}`)
    .join(', ');
}
