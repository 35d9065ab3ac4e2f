/**
 * Owns how accounts stand: open, disabled or deleted, who is an operator, and quotas of their own. All of it is held in
 * memory, because each request asks; the table is read once, at the start.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct, OPERATOR } from '../../audit/note.ts';
import type { AuditedAct } from '../../audit/records.ts';
import { Refusal } from '../../common/fault.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { accounts } from '../records.ts';
import { removals, type StandingRecord, standings } from './records.ts';

const ORDINARY: StandingRecord = { disabled_at: null, operator: false, keeps_writing: false, quotas: {} };

const FIRST: StandingRecord = { ...ORDINARY, operator: true };

export interface StandingsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  /** Within the decision that deletes an account: lets go of what has actors of its own. */
  readonly release: (batch: Batch, accountId: string, at: string) => void;
  readonly now: () => number;
}

export class Standings {
  readonly #options: StandingsOptions;
  readonly #known = new Map<string, StandingRecord>();
  readonly #deleted = new Set<string>();
  readonly #listeners: ((accountId: string) => void)[] = [];

  constructor(options: StandingsOptions) {
    this.#options = options;
    for (const { key, value } of options.store.range(standings, { prefix: [] })) this.#known.set(key[0], value);
    for (const [accountId] of options.store.keys(removals)) this.#shut(accountId);
  }

  /** Calls `listener` when nobody may go on as an account: it was disabled or deleted. */
  onShut(listener: (accountId: string) => void): void {
    this.#listeners.push(listener);
  }

  of(accountId: string): StandingRecord {
    return this.#known.get(accountId) ?? ORDINARY;
  }

  isOpen(accountId: string): boolean {
    return !this.#deleted.has(accountId) && this.of(accountId).disabled_at === null;
  }

  isDeleted(accountId: string): boolean {
    return this.#deleted.has(accountId);
  }

  isOperator(accountId: string): boolean {
    return this.isOpen(accountId) && this.of(accountId).operator;
  }

  /** Whether an account writes on while the disk is nearly full. */
  isMarked(accountId: string): boolean {
    const { operator, keeps_writing } = this.of(accountId);
    return operator || keeps_writing;
  }

  isDisabled(accountId: string): boolean {
    return !this.#deleted.has(accountId) && this.of(accountId).disabled_at !== null;
  }

  /** Refuses a credential of an account that is not open: `account_disabled`, or as an unknown one when it was deleted. */
  check(accountId: string): void {
    if (this.#deleted.has(accountId)) throw goneCredential();
    if (this.isDisabled(accountId)) throw new Refusal({ kind: 'account_disabled' });
  }

  /** Within the decision that makes an account: the first of a hub is its operator's. */
  nameFirst(batch: Batch, accountId: string): void {
    if (batch.range(accounts, { prefix: [], limit: 1 }).length > 0) return;
    batch.put(standings, [accountId], FIRST);
    // Where the commit fails there is no account of this id.
    this.#known.set(accountId, FIRST);
  }

  /** Changes what is given of a standing; a quota of null is the service's again. Refuses with `not_found`. */
  async change(
    accountId: string,
    { quotas = {}, ...given }: Partial<Omit<StandingRecord, 'quotas'>> & { readonly quotas?: QuotaChange },
  ): Promise<StandingRecord> {
    const changed = await this.#options.actors.account(accountId).ask((batch): StandingRecord => {
      if (batch.get(accounts, [accountId]) === undefined) throw noAccount();
      const before = batch.get(standings, [accountId]) ?? ORDINARY;
      const merged = Object.entries({ ...before.quotas, ...quotas }).filter(([, bytes]) => bytes !== null);
      const next = { ...before, ...given, quotas: Object.fromEntries(merged) };
      batch.put(standings, [accountId], next);
      const atMs = this.#options.now();
      for (const act of actsOf(before, next)) noteAct(batch, accountId, { atMs, act, source: OPERATOR });
      return next;
    });
    this.#known.set(accountId, changed);
    if (changed.disabled_at !== null) for (const listener of this.#listeners) listener(accountId);
    return changed;
  }

  /** Ends every way in at once, until `enable`. The account keeps its credentials and its data. */
  async disable(accountId: string): Promise<StandingRecord> {
    const { disabled_at: since } = this.of(accountId);
    return await this.change(accountId, { disabled_at: since ?? new Date(this.#options.now()).toISOString() });
  }

  /** Opens a disabled account again. */
  async enable(accountId: string): Promise<StandingRecord> {
    return await this.change(accountId, { disabled_at: null });
  }

  /** Deletes an account: from this commit on nothing of it can be reached or written. Its rows are removed later. */
  async delete(accountId: string): Promise<void> {
    const { actors, release, now } = this.#options;
    const at = new Date(now()).toISOString();
    const marked = actors.account(accountId).ask((batch): void => {
      if (batch.get(accounts, [accountId]) === undefined) throw noAccount();
      release(batch, accountId, at);
      batch.put(removals, [accountId], { deleted_at: at });
    });
    // What is asked of the account from now on would come after this decision.
    this.#shut(accountId);
    try {
      await marked;
    } catch (error) {
      this.#deleted.delete(accountId);
      actors.reopen(accountId);
      throw error;
    }
    for (const listener of this.#listeners) listener(accountId);
  }

  #shut(accountId: string): void {
    this.#deleted.add(accountId);
    this.#options.actors.shut(accountId, goneCredential());
  }
}

/** Bytes by kind; null: the service's. */
type QuotaChange = { readonly [kind in keyof StandingRecord['quotas']]?: number | null };

/** What changed, as it is recorded. */
function actsOf(before: StandingRecord, after: StandingRecord): AuditedAct[] {
  const acts: AuditedAct[] = [];
  const isDisabled = after.disabled_at !== null;
  if (isDisabled !== (before.disabled_at !== null)) acts.push(isDisabled ? 'account_disabled' : 'account_enabled');
  if (before.operator !== after.operator) acts.push('account_operator');
  const isSame = before.keeps_writing === after.keeps_writing;
  if (!isSame || JSON.stringify(before.quotas) !== JSON.stringify(after.quotas)) acts.push('account_quota');
  return acts;
}

function goneCredential(): Refusal {
  const detail = 'this credential is unknown or no longer valid';
  return new Refusal({ kind: 'unauthenticated', scheme: 'McpKey', detail });
}

function noAccount(): Refusal {
  return new Refusal({ kind: 'not_found', what: 'account not found' });
}
