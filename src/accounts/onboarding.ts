/** The use cases of a caller without a credential: sign up, or sign in for another key. */
import { sourceOf } from '../audit/note.ts';
import { addressBlock } from '../http/request/address-block.ts';
import { limits } from '../limits/service.ts';
import type { Login, Logins } from './logins.ts';
import type { Passwords } from './password.ts';
import { normalizeEmail } from './rules.ts';
import type { Accounts, NewAccount, NewKey } from './service.ts';
import type { SignUps } from './sign-up/sign-ups.ts';

export interface SignUpInput extends Login {
  readonly name?: string | undefined;
  readonly inviteCode?: string | undefined;
}

export interface OnboardingOptions {
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly logins: Logins;
  readonly signUps: SignUps;
  /** Only users of this machine reach the hub, so the first who signs up runs it. */
  readonly isLocalOnly: boolean;
  /** Counts a try by address or email. Throws Refusal `rate_limited`. */
  readonly countSignIn: (who: string) => void;
  readonly now: () => number;
}

export class Onboarding {
  readonly #options: OnboardingOptions;

  constructor(options: OnboardingOptions) {
    this.#options = options;
  }

  /**
   * Makes an account with its first keys. Refuses with `signup_closed`, `signups_spent`, `invalid_fields`, `rate_limited`;
   * what is refused costs no hash.
   */
  async signUp(input: SignUpInput): Promise<NewAccount> {
    const { accounts, passwords, signUps, countSignIn } = this.#options;
    countSignIn(`address ${input.address}`);
    const email = normalizeEmail(input.email);
    const { take, isInvited } = signUps.admit(email, input.inviteCode);
    const passwordHash = await passwords.hash(input.password, { address: addressBlock(input.address) });
    const source = sourceOf('stranger', input.address, input.agent);
    const mayLead = isInvited || this.#options.isLocalOnly;
    return await accounts.create({ email, name: input.name, passwordHash, mayLead }, source, take);
  }

  /** A new MCP key, named after the day and the client. Refuses with `wrong_login`, `rate_limited`. */
  async signIn(input: Login & { readonly client: string }): Promise<NewKey & { readonly account_id: string }> {
    const { accounts, logins, now } = this.#options;
    const accountId = await logins.check({ ...input, agent: input.client });
    const day = new Date(now()).toISOString().slice(0, 10);
    const client = input.client.replace(/[^\x20-\x7e]/g, '').trim() || 'client';
    const name = `${day} ${client}`.slice(0, limits.nameCharsMax);
    const source = sourceOf('user', input.address, input.client);
    return { account_id: accountId, ...(await accounts.createKey(accountId, name, source)) };
  }
}
