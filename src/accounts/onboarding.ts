/** The use cases of a caller without a credential: sign up, or sign in for another key. */
import { Refusal } from '../common/fault.ts';
import { addressBlock } from '../http/request/address-block.ts';
import { limits } from '../limits/service.ts';
import type { Login, Logins } from './logins.ts';
import type { Passwords } from './password.ts';
import { normalizeEmail } from './rules.ts';
import type { Accounts, NewAccount, NewKey } from './service.ts';

/** Who may sign up: anyone, nobody, or emails of these domains. */
export type SignupRule =
  | { readonly kind: 'open' | 'closed' }
  | { readonly kind: 'domains'; readonly domains: readonly string[] };

export interface OnboardingOptions {
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly logins: Logins;
  readonly signup: SignupRule;
  /** Counts a try by address or email. Throws Refusal `rate_limited`. */
  readonly countSignIn: (who: string) => void;
  readonly now: () => number;
}

export class Onboarding {
  readonly #options: OnboardingOptions;

  constructor(options: OnboardingOptions) {
    this.#options = options;
  }

  /** Makes an account with its first keys. Refuses with `signup_closed`, `invalid_fields`, `rate_limited`. */
  async signUp(input: Login & { readonly name?: string | undefined }): Promise<NewAccount> {
    const { accounts, passwords, signup, countSignIn } = this.#options;
    countSignIn(`address ${input.address}`);
    const email = normalizeEmail(input.email);
    if (!isAllowed(signup, email)) {
      throw new Refusal({
        kind: 'signup_closed',
        detail:
          signup.kind === 'closed'
            ? 'sign-up is closed on this hub; ask its operator for an account'
            : 'sign-up on this hub is for certain email domains only; ask its operator',
      });
    }
    const passwordHash = await passwords.hash(input.password, { address: addressBlock(input.address) });
    return await accounts.create({ email, name: input.name, passwordHash });
  }

  /** A new MCP key, named after the day and the client. Refuses with `wrong_login`, `rate_limited`. */
  async signIn(input: Login & { readonly client: string }): Promise<NewKey & { readonly account_id: string }> {
    const { accounts, logins, now } = this.#options;
    const accountId = await logins.check(input);
    const day = new Date(now()).toISOString().slice(0, 10);
    const client = input.client.replace(/[^\x20-\x7e]/g, '').trim() || 'client';
    const name = `${day} ${client}`.slice(0, limits.nameCharsMax);
    return { account_id: accountId, ...(await accounts.createKey(accountId, name)) };
  }
}

function isAllowed(rule: SignupRule, email: string): boolean {
  if (rule.kind !== 'domains') return rule.kind === 'open';
  return rule.domains.includes(email.slice(email.lastIndexOf('@') + 1));
}
