/** Serves callers without a credential: sign-up, and sign-in for a new key. */
import type { AuditLog } from '../audit/log.ts';
import { auditSourceOf } from '../audit/note.ts';
import type { RemoteSource } from '../audit/records.ts';
import { invalidField } from '../common/fault.ts';
import { addressBlock } from '../common/networks.ts';
import { limits } from '../limits/service.ts';
import type { Logins, SignInAttempt } from './logins.ts';
import type { Passwords } from './password.ts';
import { normalizeEmail } from './rules.ts';
import type { Accounts, NewAccount, NewKey } from './service.ts';
import type { SignInLetters } from './sign-in/letters.ts';
import type { SecondFactors } from './sign-in/second-factor.ts';
import type { SignUps } from './sign-up/sign-ups.ts';

export interface SignUpInput extends SignInAttempt {
  readonly name?: string | undefined;
  readonly inviteCode?: string | undefined;
}

export interface OnboardingOptions {
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly logins: Logins;
  readonly signUps: SignUps;
  /** True when only users of this machine can reach the hub: the first account becomes the operator's. */
  readonly isLocalOnly: boolean;
  /** Counts an attempt by address. Throws Refusal `rate_limited`. */
  readonly countSignIn: (address: string) => void;
  readonly secondFactors: SecondFactors;
  readonly letters: SignInLetters;
  readonly audit: AuditLog;
  readonly now: () => number;
}

export class Onboarding {
  readonly #options: OnboardingOptions;

  constructor(options: OnboardingOptions) {
    this.#options = options;
  }

  /**
   * Creates an account with its first keys. A sign-up that is not admitted costs no password hash.
   * Throws Refusal `signup_closed`, `signups_spent`, `invalid_fields`, `rate_limited`.
   */
  async signUp(input: SignUpInput): Promise<NewAccount> {
    const { accounts, passwords, signUps, countSignIn } = this.#options;
    countSignIn(input.address);
    const email = normalizeEmail(input.email);
    const { take, isInvited } = signUps.admit(email, input.inviteCode);
    const passwordHash = await passwords.hash(input.password, { address: addressBlock(input.address) });
    const source = auditSourceOf('stranger', input.address, input.agent);
    const mayLead = isInvited || this.#options.isLocalOnly;
    return await accounts.create({ email, name: input.name, passwordHash, mayLead }, source, take);
  }

  /**
   * Creates an MCP key named after the day and the client. Throws Refusal `wrong_login`, `rate_limited`, and
   * `invalid_fields` on `code` when the account has a second factor and the code is missing or wrong.
   */
  async signIn(
    input: SignInAttempt & { readonly client: string; readonly code?: string | undefined },
  ): Promise<NewKey & { readonly account_id: string }> {
    const { accounts, logins, letters, now } = this.#options;
    const { accountId } = await logins.check({ ...input, agent: input.client });
    const source = auditSourceOf('user', input.address, input.client);
    await this.#useCode(accountId, input.code, source);
    const day = new Date(now()).toISOString().slice(0, 10);
    const client = input.client.replace(/[^\x20-\x7e]/g, '').trim() || 'client';
    const name = `${day} ${client}`.slice(0, limits.nameCharsMax);
    const made = await accounts.createKey(accountId, name, source);
    letters.newSignIn(accounts.describe(accountId).email, `A program (it was given the key “${name}”)`, source);
    return { account_id: accountId, ...made };
  }

  async #useCode(accountId: string, code: string | undefined, source: RemoteSource): Promise<void> {
    const { secondFactors, audit } = this.#options;
    if (secondFactors.mustSetUp(accountId)) {
      audit.signInFailed(accountId, 'no second factor', source);
      throw invalidField(
        'code',
        'this hub requires two-factor sign-in; sign in on its pages with a browser and set it up, then try again',
      );
    }
    if (!secondFactors.stateOf(accountId).isOn) return;
    if (code === undefined) {
      throw invalidField(
        'code',
        'this account has two-factor sign-in; send the current code of its app, or a recovery code',
      );
    }
    try {
      await secondFactors.use(accountId, code, source);
    } catch (error) {
      audit.signInFailed(accountId, 'wrong code', source);
      throw error;
    }
  }
}
