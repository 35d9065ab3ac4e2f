/** The use cases of a password: check it at sign-in, change it. Every try counts against the sign-in limits. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { AuditLog, FailedSignIn } from '../audit/log.ts';
import { noteAct, OPERATOR, sourceOf } from '../audit/note.ts';
import type { RemoteSource } from '../audit/records.ts';
import { invalidField, Refusal } from '../common/fault.ts';
import { addressBlock } from '../http/request/address-block.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Passwords } from './password.ts';
import { accounts as accountTable } from './records.ts';
import { normalizeEmail } from './rules.ts';
import type { Accounts } from './service.ts';
import type { BrowserSessions } from './sessions.ts';
import type { Standings } from './standing/standings.ts';

export interface Login {
  readonly email: string;
  readonly password: string;
  /** Where it comes from, for the rate limit and the security events. */
  readonly address: string;
  readonly agent?: string | undefined;
}

export interface PasswordChange {
  readonly accountId: string;
  readonly current: string;
  readonly next: string;
  /** The browser session that stays; all others end. */
  readonly keptSessionId: string;
  readonly source: RemoteSource;
}

export interface LoginsOptions {
  readonly accounts: Accounts;
  readonly actors: ActorRegistry;
  readonly passwords: Passwords;
  readonly sessions: BrowserSessions;
  readonly audit: AuditLog;
  readonly now: () => number;
  readonly standings: Standings;
  /** Counts a try by address or email. Throws Refusal `rate_limited`. */
  readonly countSignIn: (who: string) => void;
}

export class Logins {
  readonly #options: LoginsOptions;

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /** The account that an email and a password open. An unknown email and a wrong password answer and take alike. */
  async check({ email: given, password, address, agent }: Login): Promise<string> {
    const { accounts, passwords, countSignIn, audit } = this.#options;
    const email = normalizeEmail(given);
    countSignIn(`address ${address}`);
    countSignIn(`email ${email}`);
    const found = accounts.signIn(email);
    const matches = await passwords.verify(found?.passwordHash, password, { address: addressBlock(address) });
    if (found === undefined || !matches) {
      audit.signInFailed(found?.accountId, whyFailed(found), sourceOf('stranger', address, agent));
      throw new Refusal({ kind: 'wrong_login' });
    }
    if (this.#options.standings.isDisabled(found.accountId)) {
      audit.signInFailed(found.accountId, 'account disabled', sourceOf('stranger', address, agent));
    }
    this.#options.standings.check(found.accountId);
    return found.accountId;
  }

  /**
   * Sets a new password and ends every other browser session in the same commit. Keys and tokens stay.
   * Refuses with `invalid_fields` on `current_password` or `password`, and with `rate_limited`.
   */
  async changePassword(change: PasswordChange): Promise<void> {
    const { accounts, actors, passwords, sessions, countSignIn, audit, now } = this.#options;
    const { source } = change;
    const { email } = accounts.describe(change.accountId);
    countSignIn(`address ${source.address}`);
    countSignIn(`email ${email}`);
    const known = accounts.signIn(email)?.passwordHash;
    const caller = { accountId: change.accountId, address: addressBlock(source.address) };
    if (!(await passwords.verify(known, change.current, caller))) {
      audit.signInFailed(change.accountId, 'wrong password', source);
      throw wrongCurrent();
    }
    const passwordHash = await passwords.hash(change.next, caller);
    await actors.account(change.accountId).ask((batch) => {
      // Changed in another browser since it was checked.
      if (batch.get(accountTable, [change.accountId])?.password_hash !== known) throw wrongCurrent();
      putPassword(batch, sessions, { ...change, passwordHash });
      noteAct(batch, change.accountId, { atMs: now(), act: 'password_changed', source });
    });
  }
}

/** Sets a password without the one of now, for the operator; every browser of the account is signed out. */
export async function resetPassword(
  { actors, sessions, now }: Pick<LoginsOptions, 'actors' | 'sessions' | 'now'>,
  accountId: string,
  passwordHash: string,
): Promise<void> {
  await actors.account(accountId).ask((batch) => {
    putPassword(batch, sessions, { accountId, passwordHash });
    noteAct(batch, accountId, { atMs: now(), act: 'password_changed', source: OPERATOR });
  });
}

interface NewPassword {
  readonly accountId: string;
  readonly passwordHash: string;
  readonly keptSessionId?: string;
}

function putPassword(batch: Batch, sessions: BrowserSessions, { accountId, passwordHash, keptSessionId }: NewPassword) {
  const account = batch.get(accountTable, [accountId]);
  if (account === undefined) throw new Error('the account of a new password is not there; run cairn verify');
  batch.put(accountTable, [accountId], { ...account, password_hash: passwordHash });
  sessions.endOthers(batch, accountId, keptSessionId);
}

function whyFailed(found: { readonly passwordHash: string | undefined } | undefined): FailedSignIn {
  if (found === undefined) return 'unknown email';
  return found.passwordHash === undefined ? 'no password set' : 'wrong password';
}

function wrongCurrent(): Refusal {
  return invalidField('current_password', 'this is not your password of now');
}
