/**
 * Resets a forgotten password by mail. A request is answered immediately and identically whether or not the account
 * exists; the work runs afterwards, so the response time reveals nothing. A token works once, for 30 minutes, and a
 * newer one replaces it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import type { RemoteSource } from '../../audit/records.ts';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import { addressBlock } from '../../common/networks.ts';
import { WrongTries } from '../../http/checks/wrong-tries.ts';
import { limits } from '../../limits/service.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import { putPassword } from '../logins.ts';
import type { Passwords } from '../password.ts';
import { normalizeEmail } from '../rules.ts';
import type { Accounts } from '../service.ts';
import type { BrowserSessions } from '../sessions.ts';
import type { SignInLetters } from './letters.ts';
import { passwordResets } from './records.ts';

const TOKEN_BYTES = 32;
const SHAPE = /^(acc_[0-9a-f]{24})\.([A-Za-z0-9_-]{43})$/;

export interface PasswordResetsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly sessions: BrowserSessions;
  readonly letters: SignInLetters;
  readonly log: Log;
  /** Counts an attempt by address. Throws Refusal `rate_limited`. */
  readonly countSignIn: (address: string) => void;
  readonly now: () => number;
}

export class PasswordResets {
  readonly #options: PasswordResetsOptions;
  readonly #asked: WrongTries;

  constructor(options: PasswordResetsOptions) {
    this.#options = options;
    this.#asked = new WrongTries({ triesMax: limits.resetsMax, windowMs: limits.resetsMs, now: options.now });
  }

  /** True when passwords can be reset by mail. */
  get areOffered(): boolean {
    return this.#options.letters.areSent;
  }

  /** Sends a token to the email, if it has an account. Throws Refusal `rate_limited` by address, `invalid_fields`. */
  ask(given: string, source: RemoteSource): void {
    const email = normalizeEmail(given);
    this.#options.countSignIn(source.address);
    setImmediate(() => {
      this.#send(email, source).catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'a password reset was not sent'),
      );
    });
  }

  /** True when a token is currently valid. */
  isOpen(token: string): boolean {
    const read = this.#read(token);
    if (read === undefined) return false;
    const row = this.#options.store.get(passwordResets, [read.accountId]);
    return row !== undefined && this.#matches(row, read.hash);
  }

  /**
   * Sets a new password and signs out every browser of the account. A refused password does not use up the token.
   * Throws Refusal `invalid_fields` (`password`), and `not_found` when the token is invalid.
   */
  async reset(token: string, password: string, source: RemoteSource): Promise<void> {
    const { actors, sessions, passwords, now } = this.#options;
    if (!this.isOpen(token)) throw closed();
    const { accountId, hash } = this.#read(token) ?? { accountId: '', hash: '' };
    const passwordHash = await passwords.hash(password, { address: addressBlock(source.address) });
    await actors.account(accountId).ask((batch) => {
      const row = batch.get(passwordResets, [accountId]);
      if (row === undefined || !this.#matches(row, hash)) throw closed();
      putPassword(batch, sessions, { accountId, passwordHash });
      noteAct(batch, accountId, { atMs: now(), act: 'password_changed', source, detail: 'reset by mail' });
    });
  }

  async #send(email: string, source: RemoteSource): Promise<void> {
    const { accounts, actors, letters, now } = this.#options;
    if (this.#asked.isOver(email)) return;
    this.#asked.add([email]);
    const accountId = accounts.signIn(email)?.accountId;
    if (accountId === undefined) return;
    const token = `${accountId}.${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const expires_ms = now() + limits.resetSeconds * 1000;
    await actors.account(accountId).ask((batch) => {
      batch.put(passwordResets, [accountId], { hash: this.#hash(token), expires_ms });
      noteAct(batch, accountId, { atMs: now(), act: 'password_reset_asked', source });
    });
    letters.passwordReset(email, token, limits.resetSeconds / 60);
  }

  #read(token: string): { readonly accountId: string; readonly hash: string } | undefined {
    const accountId = SHAPE.exec(token)?.[1];
    return accountId === undefined ? undefined : { accountId, hash: this.#hash(token) };
  }

  #matches(row: { readonly hash: string; readonly expires_ms: number }, hash: string): boolean {
    return row.expires_ms > this.#options.now() && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash));
  }

  #hash(token: string): string {
    return this.#options.sealer.keyedHash('password-reset', token);
  }
}

function closed(): Refusal {
  return new Refusal({
    kind: 'not_found',
    what: 'this link has expired or was used; ask for a new one on the sign-in page',
  });
}
