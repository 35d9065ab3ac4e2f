/**
 * Manages browser sessions. A session id is generated only at sign-in, stored as a keyed hash, and ended by sign-out,
 * idle time, age, or a password change.
 */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { AuditedAct, RemoteSource, Source } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import type { Principal } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { isDueAgain, isFromTheFuture } from '../time/truth.ts';
import { accounts, type BrowserSessionRecord, browserSessions, sessionOwners } from './records.ts';
import { isSessionLive, surplusSessions } from './rules.ts';

const ID_BYTES = 32;
const ID_SHAPE = /^[A-Za-z0-9_-]{43}$/;

export interface BrowserSummary {
  /** Identifies the session in lists; grants no access. */
  readonly session_id: string;
  readonly agent: string | null;
  readonly created_at: string;
  readonly last_seen_at: string;
}

export interface BrowserSessionsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly now: () => number;
}

export class BrowserSessions {
  readonly #options: BrowserSessionsOptions;

  constructor(options: BrowserSessionsOptions) {
    this.#options = options;
  }

  /**
   * Starts a session and resolves with its id, known only to the browser. Removes expired sessions of the account.
   * `passwordHash`: of the password that signed in. Throws Refusal `wrong_login` when it has changed since.
   */
  async start(accountId: string, source: RemoteSource, passwordHash?: string): Promise<string> {
    const { actors, now } = this.#options;
    const id = randomBytes(ID_BYTES).toString('base64url');
    await actors.account(accountId).ask((batch) => {
      const isChanged = passwordHash !== undefined && batch.get(accounts, [accountId])?.password_hash !== passwordHash;
      if (isChanged) throw new Refusal({ kind: 'wrong_login' });
      for (const hash of surplusSessions(sessionsOf(batch, accountId), now())) remove(batch, accountId, hash);
      const hash = this.#hash(id);
      batch.put(browserSessions, [hash], {
        account_id: accountId,
        created_ms: now(),
        seen_ms: now(),
        agent: source.agent,
      });
      batch.put(sessionOwners, [accountId, hash], {});
      this.#note(batch, accountId, 'signed_in', source);
    });
    return id;
  }

  /** Returns the session of an id; undefined: none, or expired. */
  find(id: string): Principal | undefined {
    if (!ID_SHAPE.test(id)) return undefined;
    const hash = this.#hash(id);
    const found = this.#options.store.get(browserSessions, [hash]);
    const nowMs = this.#options.now();
    if (found === undefined || !isSessionLive(found, nowMs)) return undefined;
    if (isDueAgain(found.seen_ms, nowMs, limits.lastUsedMs)) this.#noteUse(found.account_id, hash, nowMs);
    return { accountId: found.account_id, credentialId: sessionName(hash) };
  }

  /** True when the session of an id is valid. Does not count as a use. */
  isLive(id: string): boolean {
    const found = this.#options.store.get(browserSessions, [this.#hash(id)]);
    return found !== undefined && isSessionLive(found, this.#options.now());
  }

  /** True when the password was confirmed recently in this session. */
  isFresh(id: string): boolean {
    const found = this.#options.store.get(browserSessions, [this.#hash(id)]);
    if (found === undefined) return false;
    const [confirmedMs, nowMs] = [found.confirmed_ms ?? found.created_ms, this.#options.now()];
    return nowMs - confirmedMs < limits.freshSignInMs && !isFromTheFuture(confirmedMs, nowMs);
  }

  /** Records a password confirmation. */
  async confirm(id: string, source: Source): Promise<void> {
    const hash = this.#hash(id);
    const seen = this.#options.store.get(browserSessions, [hash]);
    if (seen === undefined) return;
    await this.#options.actors.account(seen.account_id).ask((batch) => {
      const found = batch.get(browserSessions, [hash]);
      if (found === undefined) return;
      batch.put(browserSessions, [hash], { ...found, confirmed_ms: this.#options.now() });
      this.#note(batch, found.account_id, 'password_confirmed', source);
    });
  }

  /** Ends the session of an id, if it exists. */
  async end(id: string, source: Source): Promise<void> {
    const hash = this.#hash(id);
    const found = this.#options.store.get(browserSessions, [hash]);
    if (found === undefined) return;
    await this.#options.actors.account(found.account_id).ask((batch) => {
      remove(batch, found.account_id, hash);
      this.#note(batch, found.account_id, 'signed_out', source);
    });
  }

  /** Ends one session of an account by its `session_id`. Throws Refusal `not_found`. */
  async endNamed(accountId: string, sessionId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      const found = sessionsOf(batch, accountId).find(({ hash }) => sessionName(hash) === sessionId);
      if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'this browser is already signed out' });
      remove(batch, accountId, found.hash);
      this.#note(batch, accountId, 'browser_signed_out', source, found.record.agent);
    });
  }

  /** Within a decision: ends every session of an account except `keptId`, if given. */
  endOthers(batch: Batch, accountId: string, keptId: string | undefined): void {
    const kept = keptId === undefined ? undefined : this.#hash(keptId);
    for (const { hash } of sessionsOf(batch, accountId)) if (hash !== kept) remove(batch, accountId, hash);
  }

  /** Lists the valid sessions of an account, most recently seen first. */
  list(accountId: string): BrowserSummary[] {
    const nowMs = this.#options.now();
    return sessionsOf(this.#options.store, accountId)
      .filter(({ record }) => isSessionLive(record, nowMs))
      .sort((a, b) => b.record.seen_ms - a.record.seen_ms)
      .map(({ hash, record }) => ({
        session_id: sessionName(hash),
        agent: record.agent,
        created_at: new Date(record.created_ms).toISOString(),
        last_seen_at: new Date(record.seen_ms).toISOString(),
      }));
  }

  #noteUse(accountId: string, hash: string, nowMs: number): void {
    const write = this.#options.actors.account(accountId).ask((batch) => {
      const found = batch.get(browserSessions, [hash]);
      // Ended since the check: recording a use must not restore it.
      if (found === undefined || !isDueAgain(found.seen_ms, nowMs, limits.lastUsedMs)) return;
      batch.put(browserSessions, [hash], { ...found, seen_ms: nowMs });
    });
    // No request waits for this row; a failed write is repeated at the next use.
    write.catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'the last use of a session was not written'),
    );
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source, detail?: string | null): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source, detail });
  }

  #hash(id: string): string {
    return this.#options.sealer.keyedHash('browser-session', id);
  }
}

function sessionsOf(reader: Pick<Batch, 'get' | 'range'>, accountId: string) {
  return reader.range(sessionOwners, { prefix: [accountId] }).flatMap(({ key: [, hash] }) => {
    const record: BrowserSessionRecord | undefined = reader.get(browserSessions, [hash]);
    return record === undefined ? [] : [{ hash, record }];
  });
}

function remove(batch: Batch, accountId: string, hash: string): void {
  batch.remove(browserSessions, [hash]);
  batch.remove(sessionOwners, [accountId, hash]);
}

function sessionName(hash: string): string {
  return `session_${hash.slice(0, 16)}`;
}
