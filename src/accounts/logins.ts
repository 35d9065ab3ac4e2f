/** Checks a password at sign-in, confirms it again, and changes it. Every attempt goes through the guard. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { AuditLog, FailedSignIn } from '../audit/log.ts';
import { auditSourceOf, noteAct, OPERATOR } from '../audit/note.ts';
import type { RemoteSource, Source } from '../audit/records.ts';
import { invalidField, Refusal } from '../common/fault.ts';
import { addressBlock } from '../common/networks.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Passwords } from './password.ts';
import { accounts as accountTable } from './records.ts';
import { normalizeEmail } from './rules.ts';
import type { Accounts } from './service.ts';
import type { BrowserSessions } from './sessions.ts';
import type { BrowserMarks } from './sign-in/browser-mark.ts';
import type { PasswordTry, SignInGuard } from './sign-in/guard.ts';
import { passwordResets } from './sign-in/records.ts';
import type { Standings } from './standing/standings.ts';

export interface SignInAttempt {
  readonly email: string;
  readonly password: string;
  /** Client address, for the rate limit and the security events. */
  readonly address: string;
  readonly agent?: string | undefined;
  /** Mark stored by a browser that has signed in before. */
  readonly mark?: string | undefined;
}

/** A password to confirm for a signed-in account. */
export interface PasswordAgain {
  readonly accountId: string;
  readonly password: string;
  readonly source: RemoteSource;
}

export interface PasswordChange extends PasswordAgain {
  readonly next: string;
  /** The browser session to keep; all others end. */
  readonly keptSessionId: string;
}

/** The right password of an account. It may change before the sign-in ends, so whoever starts a session checks it again. */
export interface RightPassword {
  readonly accountId: string;
  readonly passwordHash: string;
}

export interface LoginsOptions {
  readonly accounts: Accounts;
  readonly actors: ActorRegistry;
  readonly passwords: Passwords;
  readonly sessions: BrowserSessions;
  readonly audit: AuditLog;
  readonly guard: SignInGuard;
  readonly marks: BrowserMarks;
  readonly now: () => number;
  readonly standings: Standings;
}

export class Logins {
  readonly #options: LoginsOptions;

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the account of an email and password. An unknown email and a wrong password are answered alike and
   * take equally long. A password that was changed while the attempt waited is wrong.
   * Throws Refusal `wrong_login`, `rate_limited`, or that of a disabled account.
   */
  async check({ email: given, password, address, agent, mark }: SignInAttempt): Promise<RightPassword> {
    const { accounts, passwords, guard, marks, audit } = this.#options;
    const email = normalizeEmail(given);
    const tried: PasswordTry = { email, address, known: marks.knownAs(mark, email) };
    const source = auditSourceOf('stranger', address, agent);
    await this.#enter(tried, accounts.signIn(email)?.accountId, source);
    const found = accounts.signIn(email);
    // Only a known browser is counted for the account when hashing, so that strangers cannot use up the account's
    // share.
    const accountId = tried.known === undefined ? undefined : found?.accountId;
    const matches = await passwords.verify(found?.passwordHash, password, {
      accountId,
      address: addressBlock(address),
    });
    const passwordHash = accounts.signIn(email)?.passwordHash;
    if (found !== undefined && matches && passwordHash !== undefined && passwordHash === found.passwordHash) {
      if (this.#options.standings.isDisabled(found.accountId)) {
        audit.signInFailed(found.accountId, 'account disabled', source);
      }
      this.#options.standings.check(found.accountId);
      return { accountId: found.accountId, passwordHash };
    }
    guard.failed(tried);
    audit.signInFailed(found?.accountId, whyFailed(found), source);
    throw new Refusal({ kind: 'wrong_login' });
  }

  /** True when this is the password of the signed-in account. Throws Refusal `rate_limited`. */
  async isPassword({ accountId, password, source }: PasswordAgain): Promise<boolean> {
    const { accounts, passwords, guard, audit } = this.#options;
    const { email } = accounts.describe(accountId);
    const tried: PasswordTry = { email, address: source.address, known: `session of ${accountId}` };
    await this.#enter(tried, accountId, source);
    const caller = { accountId, address: addressBlock(source.address) };
    const matches = await passwords.verify(accounts.signIn(email)?.passwordHash, password, caller);
    if (matches) return true;
    guard.failed(tried);
    audit.signInFailed(accountId, 'wrong password', source);
    return false;
  }

  /**
   * Sets a new password and ends every other browser session in the same commit. Keys and tokens stay valid.
   * Throws Refusal `invalid_fields` on `current_password` or `password`, and `rate_limited`.
   */
  async changePassword(change: PasswordChange): Promise<void> {
    const { accounts, actors, passwords, sessions, now } = this.#options;
    const { accountId, source, keptSessionId } = change;
    const known = accounts.signIn(accounts.describe(accountId).email)?.passwordHash;
    if (!(await this.isPassword(change))) throw wrongCurrent();
    const caller = { accountId, address: addressBlock(source.address) };
    const passwordHash = await passwords.hash(change.next, caller);
    await actors.account(accountId).ask((batch) => {
      // Another browser changed the password after the check.
      if (batch.get(accountTable, [accountId])?.password_hash !== known) throw wrongCurrent();
      putPassword(batch, sessions, { accountId, keptSessionId, passwordHash });
      noteAct(batch, accountId, { atMs: now(), act: 'password_changed', source });
    });
  }

  async #enter(tried: PasswordTry, accountId: string | undefined, source: RemoteSource): Promise<void> {
    try {
      await this.#options.guard.enter(tried);
    } catch (error) {
      this.#options.audit.signInFailed(accountId, 'too many tries', source);
      throw error;
    }
  }
}

/** Sets a password without the current one, for the operator, and signs out every browser of the account. */
export async function resetPassword(
  { actors, sessions, now }: Pick<LoginsOptions, 'actors' | 'sessions' | 'now'>,
  accountId: string,
  passwordHash: string,
  source: Source = OPERATOR,
): Promise<void> {
  await actors.account(accountId).ask((batch) => {
    putPassword(batch, sessions, { accountId, passwordHash });
    noteAct(batch, accountId, { atMs: now(), act: 'password_changed', source });
  });
}

interface NewPassword {
  readonly accountId: string;
  readonly passwordHash: string;
  readonly keptSessionId?: string;
}

/** Within a decision: sets a password, and ends the browser sessions and the reset link of the account. */
export function putPassword(
  batch: Batch,
  sessions: BrowserSessions,
  { accountId, passwordHash, keptSessionId }: NewPassword,
): void {
  const account = batch.get(accountTable, [accountId]);
  if (account === undefined) throw new Error('the account of a new password does not exist; run `cairn verify`');
  batch.put(accountTable, [accountId], { ...account, password_hash: passwordHash });
  // A link that somebody asked for before must not undo this.
  batch.remove(passwordResets, [accountId]);
  sessions.endOthers(batch, accountId, keptSessionId);
}

function whyFailed(found: { readonly passwordHash: string | undefined } | undefined): FailedSignIn {
  if (found === undefined) return 'unknown email';
  return found.passwordHash === undefined ? 'no password set' : 'wrong password';
}

function wrongCurrent(): Refusal {
  return invalidField('current_password', 'this is not your current password');
}
