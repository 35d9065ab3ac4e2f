/**
 * Manages the state of accounts: open, disabled or deleted, operator rights, and individual quotas. All of it is
 * cached in memory because every request reads it; the table is read once, at the start.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct, OPERATOR } from '../../audit/note.ts';
import type { AuditedAct, Source } from '../../audit/records.ts';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import type { Batch } from '../../store/group-commit.ts';
import { intact } from '../../store/intact.ts';
import type { Store } from '../../store/store.ts';
import { accounts } from '../records.ts';
import { removals, type StandingRecord, standings } from './records.ts';

const ORDINARY: StandingRecord = { disabled_at: null, operator: false, keeps_writing: false, quotas: {} };

/** In place of a damaged state: the account may have been disabled. */
const unknownSince = (atMs: number): StandingRecord => ({ ...ORDINARY, disabled_at: new Date(atMs).toISOString() });

/** How an account begins. */
export interface Beginning {
  /** The first account of a hub becomes its operator's; default: true. */
  readonly mayLead?: boolean | undefined;
  /** Quotas of its own. */
  readonly quotas?: StandingRecord['quotas'] | undefined;
}

export interface StandingsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  /** Within the decision that deletes an account: releases data owned by other actors, such as vaults. */
  readonly release: (batch: Batch, accountId: string, at: string) => void;
  readonly now: () => number;
  readonly log: Log;
}

export class Standings {
  readonly #options: StandingsOptions;
  readonly #known = new Map<string, StandingRecord>();
  readonly #deleted = new Set<string>();
  readonly #listeners: ((accountId: string) => void)[] = [];

  constructor(options: StandingsOptions) {
    this.#options = options;
    for (const key of options.store.keys(standings)) {
      this.#known.set(key[0], intact(options.store, standings, key) ?? this.#unknown(key[0]));
    }
    for (const [accountId] of options.store.keys(removals)) this.#shut(accountId);
  }

  /** Calls `listener` when an account was disabled or deleted: requests in progress must end. */
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

  /** The accounts whose operators can sign in. */
  operators(): string[] {
    return [...this.#known.keys()].filter((accountId) => this.isOperator(accountId));
  }

  /** True when the account may write while the disk is nearly full. */
  isMarked(accountId: string): boolean {
    const { operator, keeps_writing } = this.of(accountId);
    return operator || keeps_writing;
  }

  isDisabled(accountId: string): boolean {
    return !this.#deleted.has(accountId) && this.of(accountId).disabled_at !== null;
  }

  /** Throws Refusal `account_disabled` for a disabled account; for a deleted one, that of an unknown credential. */
  check(accountId: string): void {
    if (this.#deleted.has(accountId)) throw goneCredential();
    if (this.isDisabled(accountId)) throw new Refusal({ kind: 'account_disabled' });
  }

  /** Within the decision that creates an account: makes the first account of a hub its operator's, and sets quotas. */
  begin(batch: Batch, accountId: string, { mayLead = true, quotas = {} }: Beginning = {}): void {
    const operator = mayLead && batch.range(accounts, { prefix: [], limit: 1 }).length === 0;
    if (!operator && Object.keys(quotas).length === 0) return;
    const first = { ...ORDINARY, operator, quotas };
    batch.put(standings, [accountId], first);
    // If the commit fails, no account has this id.
    this.#known.set(accountId, first);
  }

  /** Changes the given fields of a state; a quota of null resets it to the default. Throws Refusal `not_found`. */
  async change(
    accountId: string,
    { quotas = {}, ...given }: Partial<Omit<StandingRecord, 'quotas'>> & { readonly quotas?: QuotaChange },
    source: Source = OPERATOR,
  ): Promise<StandingRecord> {
    const changed = await this.#options.actors.account(accountId).ask((batch): StandingRecord => {
      if (batch.get(accounts, [accountId]) === undefined) throw noAccount();
      const before = intact(batch, standings, [accountId]) ?? this.of(accountId);
      const merged = Object.entries({ ...before.quotas, ...quotas }).filter(([, bytes]) => bytes !== null);
      const next = { ...before, ...given, quotas: Object.fromEntries(merged) };
      batch.put(standings, [accountId], next);
      const atMs = this.#options.now();
      for (const act of actsOf(before, next)) noteAct(batch, accountId, { atMs, act, source });
      return next;
    });
    this.#known.set(accountId, changed);
    if (changed.disabled_at !== null) for (const listener of this.#listeners) listener(accountId);
    return changed;
  }

  /** Blocks all access immediately, until `enable`. The account keeps its credentials and its data. */
  async disable(accountId: string, source: Source = OPERATOR): Promise<StandingRecord> {
    const { disabled_at: since } = this.of(accountId);
    return await this.change(accountId, { disabled_at: since ?? new Date(this.#options.now()).toISOString() }, source);
  }

  /** Enables a disabled account again. */
  async enable(accountId: string, source: Source = OPERATOR): Promise<StandingRecord> {
    return await this.change(accountId, { disabled_at: null }, source);
  }

  /** Deletes an account: from this commit on, its data cannot be reached or written. Its rows are removed later. */
  async delete(accountId: string, source: Source): Promise<void> {
    const { actors, release, now } = this.#options;
    const atMs = now();
    const at = new Date(atMs).toISOString();
    const marked = actors.account(accountId).ask((batch): void => {
      const account = batch.get(accounts, [accountId]);
      if (account === undefined) throw noAccount();
      // The hub's log keeps the email of a deleted account: an id would not tell the operator which one it was.
      noteAct(batch, accountId, { atMs, act: 'account_deleted', source, detail: account.email });
      release(batch, accountId, at);
      batch.put(removals, [accountId], { deleted_at: at });
    });
    // Refuse new requests now: they would be decided after the deletion.
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

  #unknown(accountId: string): StandingRecord {
    this.#options.log.error(
      { account: accountId },
      'the state of an account is damaged: it is disabled until `cairn account enable`; set its quotas and rights again',
    );
    return unknownSince(this.#options.now());
  }

  #shut(accountId: string): void {
    this.#deleted.add(accountId);
    this.#options.actors.shut(accountId, goneCredential());
  }
}

/** Bytes by kind; null: reset to the default. */
type QuotaChange = { readonly [kind in keyof StandingRecord['quotas']]?: number | null };

/** Returns the audit entries for a change of state. */
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
