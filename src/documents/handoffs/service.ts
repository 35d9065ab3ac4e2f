/** Implements the use cases of handoffs. Every write runs in the account's actor. Dates are in Korea Standard Time. */
import type { ActorRegistry } from '../../actors/registry.ts';
import { staleVersion } from '../../fields/expected-version.ts';
import { oneLine } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { recordBytes } from '../../quotas/usage.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { kstDate, kstDateBefore } from '../../time/kst.ts';
import { putInBin, takeFromBin } from '../bin.ts';
import {
  type DocumentName,
  dropDocument,
  keptText,
  measure,
  putVersion,
  readText,
  readVersion,
  type Version,
  versionsOf,
} from '../texts.ts';
import { findHandoff, type HandoffList, listHandoffs, namesOf, newestOfEach, rowsOf } from './lookup.ts';
import { type HandoffRecord, handoffHeads, handoffNames, handoffRows, handoffs } from './records.ts';
import { cleanName, dateKey, decideNew, decideReplace, foldName, handoffNotFound } from './rules.ts';

export interface HandoffsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly quotas: Quotas;
  readonly now: () => number;
  /** Retention period in days: listing permanently deletes older handoffs. Undefined: nothing is deleted. */
  readonly keepDays: number | undefined;
  /** False while the clock is wrong; nothing is deleted then. */
  readonly mayPurge: () => boolean;
}

export interface SaveRequest {
  readonly project: string;
  readonly topic: string;
  readonly content: string;
  /** Undefined: today. */
  readonly date?: string | undefined;
  readonly time?: string | undefined;
  /** Rejected when the current version differs. 0: no handoff with this name may exist. */
  readonly expected_version?: number | undefined;
}

export interface GetRequest {
  readonly project: string;
  readonly topic: string;
  /** Undefined: the latest match. */
  readonly date?: string | undefined;
  readonly time?: string | undefined;
  /** Undefined: the current version. */
  readonly version?: number | undefined;
}

export interface HandoffListRequest {
  readonly project?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** One version of a handoff with its text. */
export interface ReadHandoff {
  readonly handoff: HandoffRecord;
  readonly shown: Version;
  readonly content: string;
}

export class Handoffs {
  readonly #options: HandoffsOptions;

  constructor(options: HandoffsOptions) {
    this.#options = options;
  }

  /** Saves a handoff, or replaces the one with that name. The same text changes nothing. `by`: who saves it. */
  async save(accountId: string, request: SaveRequest, by?: string): Promise<HandoffRecord> {
    const { actors, quotas, now } = this.#options;
    const { content, time = null, date = kstDate(now()) } = request;
    const name = { project: cleanName(request.project), topic: cleanName(request.topic), date, time };
    const { project, topic } = name;
    const facts = { ...measure(content), preview: previewOf(content) };
    return actors.account(accountId).ask((batch) => {
      const key: [string, string, string, string] = [accountId, foldName(project), foldName(topic), dateKey(name)];
      const found = batch.get(handoffNames, key);
      const checkRoom = () => quotas.check(batch, accountId, 'documents', recordBytes(content));
      const handoff = found && batch.get(handoffs, [accountId, found.id]);
      checkVersion(request.expected_version, handoff?.version ?? 0);
      if (handoff === undefined) {
        checkRoom();
        const { handoff: made, head } = decideNew(name, facts, batch.get(handoffHeads, [accountId]), now(), by);
        batch.put(handoffHeads, [accountId], head);
        for (const names of namesOf(accountId, made)) batch.put(handoffNames, names, { id: made.id });
        for (const row of rowsOf(accountId, made)) batch.put(handoffRows, row, { id: made.id });
        return write(batch, accountId, made, content);
      }
      if (keptText(batch, nameOf(accountId, handoff), handoff.version) === content) return handoff;
      checkRoom();
      const next = decideReplace(handoff, name, facts, now(), by);
      putInBin(batch, Date.parse(next.updated_at), nameOf(accountId, handoff), handoff.version);
      return write(batch, accountId, next, content);
    });
  }

  /** Returns a handoff with its text. Throws Refusal `not_found`, also when the version is not stored. */
  get(accountId: string, { version, ...request }: GetRequest): ReadHandoff {
    return this.#open(accountId, findHandoff(this.#options.store, accountId, request), version);
  }

  /** As `get`, by its number. */
  read(accountId: string, id: number, version?: number): ReadHandoff {
    const handoff = this.#options.store.get(handoffs, [accountId, id]);
    if (handoff === undefined) throw handoffNotFound('handoff not found');
    return this.#open(accountId, handoff, version);
  }

  #open(accountId: string, handoff: HandoffRecord, version: number | undefined): ReadHandoff {
    const { store } = this.#options;
    const name = nameOf(accountId, handoff);
    const shown = readVersion(store, name, version ?? handoff.version);
    const content = readText(store, name, version ?? handoff.version);
    if (shown === undefined || content === undefined)
      throw handoffNotFound(`version ${version} of this handoff is not available`);
    return { handoff, shown, content };
  }

  /** Returns the stored versions of a handoff, newest first. */
  versions(accountId: string, handoff: HandoffRecord): Version[] {
    return versionsOf(this.#options.store, nameOf(accountId, handoff)).reverse();
  }

  /** Returns a page, newest first, after permanently deleting handoffs past the retention period. */
  async list(accountId: string, request: HandoffListRequest): Promise<HandoffList> {
    await this.#purge(accountId);
    return listHandoffs(this.#options.store, accountId, request);
  }

  /** Returns the same page as `list`, but deletes nothing. */
  page(accountId: string, request: HandoffListRequest): HandoffList {
    return listHandoffs(this.#options.store, accountId, request);
  }

  /** Returns a page of the newest handoff of each project, newest first. */
  newestOfEach(
    accountId: string,
    request: Pick<HandoffListRequest, 'cursor'> & { readonly limit: number },
  ): HandoffList {
    return newestOfEach(this.#options.store, accountId, request);
  }

  async #purge(accountId: string): Promise<void> {
    const { store, actors, now, keepDays, mayPurge } = this.#options;
    if (keepDays === undefined || !mayPurge()) return;
    const first = kstDateBefore(now(), keepDays);
    for (;;) {
      const rows = store.range(handoffRows, { prefix: [accountId, '*'], limit: limits.handoffPurgeMax });
      const due = rows.filter(({ key }) => key[2] < first).map(({ value }) => value.id);
      if (due.length === 0) return;
      await actors.account(accountId).ask((batch) => {
        for (const id of due) remove(batch, accountId, id);
      });
    }
  }
}

function checkVersion(expected: number | undefined, current: number): void {
  if (expected !== undefined && expected !== current) throw staleVersion('handoff', expected, current);
}

/** Returns the beginning of a text on one line. */
export function previewOf(content: string): string {
  const { handoffPreviewCharsMax: previewChars } = limits;
  // White space can make up most of the beginning.
  return oneLine(content.slice(0, previewChars * 8), previewChars);
}

function write(batch: Batch, accountId: string, handoff: HandoffRecord, text: string): HandoffRecord {
  batch.put(handoffs, [accountId, handoff.id], handoff);
  const { version, updated_at: at, changed_by: by } = handoff;
  putVersion(batch, nameOf(accountId, handoff), version, text, { at, by });
  return handoff;
}

/** Permanently deletes a handoff, its texts and its entries in the trash. */
function remove(batch: Batch, accountId: string, id: number): void {
  const handoff = batch.get(handoffs, [accountId, id]);
  if (handoff === undefined) return;
  const name = nameOf(accountId, handoff);
  batch.remove(handoffs, [accountId, id]);
  for (const names of namesOf(accountId, handoff)) batch.remove(handoffNames, names);
  for (const row of rowsOf(accountId, handoff)) batch.remove(handoffRows, row);
  for (const { version, sinceMs } of replacedOf(versionsOf(batch, name))) takeFromBin(batch, sinceMs, name, version);
  dropDocument(batch, name);
}

/** Returns the replaced versions of a handoff, and when each was replaced. `versions`: oldest first. */
function replacedOf(versions: readonly Version[]): { readonly version: number; readonly sinceMs: number }[] {
  return versions.slice(1).map(({ version, created_at: at }) => ({ version: version - 1, sinceMs: Date.parse(at) }));
}

function nameOf(accountId: string, { id }: Pick<HandoffRecord, 'id'>): DocumentName {
  return { accountId, space: 'handoffs', id };
}
