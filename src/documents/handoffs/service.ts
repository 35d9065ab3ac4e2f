/** Implements the use cases of handoffs. Every write runs in the account's actor. Dates are in Korea Standard Time. */
import { limits } from '../../limits/service.ts';
import { recordBytes } from '../../quotas/usage.ts';
import type { Batch } from '../../store/group-commit.ts';
import { kstDate, kstDateBefore } from '../../time/kst.ts';
import { documentBin } from '../records.ts';
import { checkExpected, cleanName } from '../rules.ts';
import { DocumentService, type DocumentServiceOptions, type ReadDocument } from '../service.ts';
import { dropDocument, versionsOf } from '../texts.ts';
import { binKey } from '../write.ts';
import { declaredHandoff, type HandoffRecord } from './declared.ts';
import type { NewHandoff } from './fields.ts';
import { handoffKind } from './kind.ts';
import { findHandoff, type HandoffList, listHandoffs, meantProject, newestOfEach } from './lookup.ts';
import { type HandoffHead, handoffNames, handoffRows } from './records.ts';
import { decideNew, decideReplace, handoffNotFound, nameKeys } from './rules.ts';

interface HandoffsOptions extends DocumentServiceOptions {
  /** Retention period in days: listing permanently deletes older handoffs. Undefined: nothing is deleted. */
  readonly keepDays: number | undefined;
  /** False while the clock is wrong; nothing is deleted then. */
  readonly mayPurge: () => boolean;
}

export interface SaveRequest extends NewHandoff {
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

export class Handoffs extends DocumentService<HandoffRecord, HandoffHead, HandoffsOptions> {
  constructor(options: HandoffsOptions) {
    super(handoffKind, options);
  }

  /** Saves a handoff, or replaces the one with that name. The same text changes nothing. `by`: who saves it. */
  async save(accountId: string, request: SaveRequest, by?: string): Promise<HandoffRecord> {
    const { actors, quotas, now } = this.options;
    const { content, time = null, date = kstDate(now()), expected_version: expected, ...given } = request;
    const fields = { ...given, project: cleanName(given.project), topic: cleanName(given.topic), date, time };
    const { project: _, topic: __, ...others } = given;
    const facts = this.kind.factsOf(content);
    const [byDate] = nameKeys(fields);
    return actors.account(accountId).once(['handoff saved', request], (batch) => {
      const found = batch.get(handoffNames, [accountId, ...byDate]);
      const handoff = found && this.find(batch, accountId, found.id);
      checkExpected('handoff', expected, handoff?.version ?? 0);
      const isSame = handoff !== undefined && declaredHandoff.change(handoff, others) === handoff;
      if (isSame && this.hold(batch, accountId, handoff).text() === content) return handoff;
      quotas.check(batch, accountId, 'documents', recordBytes(content));
      if (handoff !== undefined) {
        return this.put(batch, accountId, handoff, decideReplace(handoff, fields, facts, now(), by), content);
      }
      const { handoff: made, head } = decideNew(fields, facts, this.headOf(batch, accountId), now(), by);
      return this.put(batch, accountId, undefined, made, content, head);
    });
  }

  /** Returns a handoff with its text. Throws Refusal `not_found`, also when the version is not stored. */
  get(accountId: string, { version, ...request }: GetRequest): ReadDocument<HandoffRecord> {
    return this.#read(accountId, findHandoff(this.options.store, accountId, request), version);
  }

  /** As `get`, by its number. */
  override openById(accountId: string, id: number, version?: number): ReadDocument<HandoffRecord> {
    const handoff = this.find(this.options.store, accountId, id);
    if (handoff === undefined) throw handoffNotFound('handoff not found');
    return this.#read(accountId, handoff, version);
  }

  #read(accountId: string, handoff: HandoffRecord, version: number | undefined): ReadDocument<HandoffRecord> {
    const found = this.open(accountId, handoff, version);
    if (found === undefined) throw handoffNotFound(`version ${version} of this handoff is not available`);
    return found;
  }

  /** Returns a page, newest first, after permanently deleting handoffs past the retention period. */
  async list(accountId: string, request: HandoffListRequest): Promise<HandoffList> {
    await this.#purge(accountId);
    return listHandoffs(this.options.store, accountId, request);
  }

  /** Returns the same page as `list`, but deletes nothing. */
  page(accountId: string, request: HandoffListRequest): HandoffList {
    return listHandoffs(this.options.store, accountId, request);
  }

  /** As `meantProject` in lookup.ts. */
  meantProject(accountId: string, project: string): string | undefined {
    return meantProject(this.options.store, accountId, project);
  }

  /** Returns a page of the newest handoff of each project, newest first. */
  newestOfEach(
    accountId: string,
    request: Pick<HandoffListRequest, 'cursor'> & { readonly limit: number },
  ): HandoffList {
    return newestOfEach(this.options.store, accountId, request);
  }

  async #purge(accountId: string): Promise<void> {
    const { store, actors, now, keepDays, mayPurge } = this.options;
    if (keepDays === undefined || !mayPurge()) return;
    const first = kstDateBefore(now(), keepDays);
    for (;;) {
      const rows = store.range(handoffRows, { prefix: [accountId, '*'], limit: limits.handoffPurgeMax });
      const due = rows.filter(({ key }) => key[2] < first).map(({ value }) => value.id);
      if (due.length === 0) return;
      await actors.account(accountId).ask((batch) => {
        for (const id of due) this.#remove(batch, accountId, id);
      });
    }
  }

  /** Permanently deletes a handoff, its texts and its entries in the trash. */
  #remove(batch: Batch, accountId: string, id: number): void {
    const name = this.name(accountId, id);
    this.forget(batch, accountId, id);
    // Each version replaced the one before it.
    for (const { version, created_at: at } of versionsOf(batch, name).slice(1)) {
      batch.remove(documentBin, binKey(at, name, version - 1));
    }
    dropDocument(batch, name);
  }
}
