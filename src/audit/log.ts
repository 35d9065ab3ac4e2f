/** Lists the security events of accounts, records failed sign-ins, and deletes events older than 180 days. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';
import { intact, intactEntries } from '../store/intact.ts';
import { HUB } from '../store/owners.ts';
import type { Store } from '../store/store.ts';
import type { Key, Reader, Table } from '../store/table.ts';
import { DAY_MS } from '../time/calendar.ts';
import { noteFailure } from './note.ts';
import { AUDITED, type AuditedAct, type AuditRing, auditEvents, hubEvents, type Source } from './records.ts';

const RINGS: readonly AuditRing[] = ['act', 'failure'];

/** Reason of a failed sign-in, for the log, the metrics and the account's own list. */
export type FailedSignIn =
  | 'unknown email'
  | 'no password set'
  | 'wrong password'
  | 'wrong code'
  | 'no second factor'
  | 'too many tries'
  | 'account disabled';

export interface SecurityEvent extends Source {
  readonly at: string;
  readonly act: AuditedAct;
  /** The act in words. */
  readonly what: string;
  readonly detail: string | null;
  readonly count: number;
}

/** An event of the hub's own log. */
export interface HubEvent extends SecurityEvent {
  readonly account_id: string | null;
  /** The email of that account, also when it is deleted; null: unknown. */
  readonly email: string | null;
}

export interface AuditLogOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly log: Log;
  /** True when the account exists. An account deleted in the meantime gets no event. */
  readonly isAccount: (reader: Pick<Reader, 'get'>, accountId: string) => boolean;
  /** The email of an account; undefined: there is no such account. */
  readonly emailOf: (accountId: string) => string | undefined;
  readonly now: () => number;
}

export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #failed = new Map<FailedSignIn, number>();

  constructor(options: AuditLogOptions) {
    this.#options = options;
    const { store, log } = options;
    store.watch(hubEvents, (written) => () => {
      for (const key of written) {
        // Absent: the commit failed, or this is the removal of the oldest event.
        const event = intact(store, hubEvents, key as [number]);
        if (event === undefined) continue;
        const { act, account_id, by, who } = event;
        log.info({ event: act, account_id: account_id ?? undefined, by, who }, AUDITED[act]);
      }
    });
  }

  /** Number of failed sign-ins since the start, by reason. */
  get failedSignIns(): ReadonlyMap<FailedSignIn, number> {
    return this.#failed;
  }

  /** Returns the newest security events of an account, newest first. */
  list(accountId: string, max: number): SecurityEvent[] {
    const { store, now } = this.#options;
    const sinceMs = now() - limits.auditDays * DAY_MS;
    const query = { reverse: true, limit: max } as const;
    return RINGS.flatMap((ring) => [...intactEntries(store, auditEvents, { prefix: [accountId, ring], ...query })])
      .map(({ value }) => value)
      .filter(({ at_ms }) => at_ms >= sinceMs)
      .sort((a, b) => b.at_ms - a.at_ms)
      .slice(0, max)
      .map(({ at_ms, act, detail, by, address, agent, count }) => ({
        at: new Date(at_ms).toISOString(),
        act,
        what: AUDITED[act],
        by,
        address,
        agent,
        detail,
        count: count ?? 1,
      }));
  }

  /** Returns the newest events of the hub, newest first. */
  listHub(max: number): HubEvent[] {
    const { store, emailOf, now } = this.#options;
    const sinceMs = now() - limits.hubEventDays * DAY_MS;
    const all = Array.from(intactEntries(store, hubEvents, { prefix: [], reverse: true }), ({ value }) => value);
    const emails = new Map<string, string | null>();
    for (const { act, account_id, detail } of all) {
      if (act === 'account_deleted' && account_id !== null) emails.set(account_id, detail);
    }
    return all
      .filter(({ at_ms }) => at_ms >= sinceMs)
      .slice(0, max)
      .map(({ at_ms, act, detail, account_id, by, address, agent, who }) => ({
        at: new Date(at_ms).toISOString(),
        act,
        what: AUDITED[act],
        account_id,
        email: account_id === null ? null : (emailOf(account_id) ?? emails.get(account_id) ?? null),
        by,
        who,
        address,
        agent,
        detail: act === 'account_deleted' ? null : detail,
        count: 1,
      }));
  }

  /** Counts and logs a failed sign-in. Also records it if the account exists. Never fails the caller. */
  signInFailed(accountId: string | undefined, why: FailedSignIn, source: Source): void {
    const { actors, isAccount, log, now } = this.#options;
    this.#failed.set(why, (this.#failed.get(why) ?? 0) + 1);
    // The email is not logged: people type passwords into that field.
    log.warn({ account_id: accountId, address: source.address, reason: why }, 'a sign-in failed');
    if (accountId === undefined) return;
    const event = { atMs: now(), act: 'sign_in_failed', source, detail: why } as const;
    actors
      .account(accountId)
      .ask((batch) => {
        if (isAccount(batch, accountId)) noteFailure(batch, accountId, event);
      })
      .catch((error: unknown) => log.warn({ err: error }, 'a failed sign-in was not recorded'));
  }

  /** Deletes events of accounts older than 180 days, and of the hub older than a year. Resolves with their number. */
  async sweep(): Promise<number> {
    return (await this.#sweepHub()) + (await this.#sweepAccounts());
  }

  #sweepHub(): Promise<number> {
    const { store, now } = this.#options;
    const cutoffMs = now() - limits.hubEventDays * DAY_MS;
    if (keysBefore(store, hubEvents, [], cutoffMs).length === 0) return Promise.resolve(0);
    return store.write(HUB, (batch) => {
      const old = keysBefore(batch, hubEvents, [], cutoffMs);
      for (const key of old) batch.remove(hubEvents, key);
      return old.length;
    });
  }

  async #sweepAccounts(): Promise<number> {
    const { store, actors, now } = this.#options;
    const cutoffMs = now() - limits.auditDays * DAY_MS;
    let removed = 0;
    let after: string | undefined;
    for (;;) {
      const beyond = after === undefined ? {} : { beyond: [after, PAST_RINGS] };
      const [next] = store.keysIn(auditEvents, { prefix: [], ...beyond, limit: 1 });
      if (next === undefined) return removed;
      const [accountId] = next;
      for (const ring of RINGS) {
        const prefix: [string, AuditRing] = [accountId, ring];
        if (keysBefore(store, auditEvents, prefix, cutoffMs).length === 0) continue;
        removed += await actors.account(accountId).ask((batch) => {
          const old = keysBefore(batch, auditEvents, prefix, cutoffMs);
          for (const key of old) batch.remove(auditEvents, key);
          return old.length;
        });
      }
      after = accountId;
    }
  }
}

/** The keys of events before a time, in the order of their numbers. A damaged one is due once a later one is. */
function keysBefore<K extends Key>(
  reader: Pick<Reader, 'get' | 'keysIn'>,
  table: Table<K, { readonly at_ms: number }>,
  prefix: Key,
  cutoffMs: number,
): K[] {
  const old: K[] = [];
  let count = 0;
  for (const key of reader.keysIn(table, { prefix })) {
    const event = intact(reader, table, key);
    if (event !== undefined && event.at_ms >= cutoffMs) break;
    old.push(key);
    if (event !== undefined) count = old.length;
  }
  return old.slice(0, count);
}

/** Sorts after the names of all rings. */
const PAST_RINGS = '~';
