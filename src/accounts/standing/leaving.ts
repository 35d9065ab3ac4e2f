/** Deletes an account at its owner's request, after the password was confirmed. */
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Logins } from '../logins.ts';
import type { Accounts } from '../service.ts';
import type { Standings } from './standings.ts';

export interface LeavingOptions {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly standings: Standings;
}

export interface Leave {
  readonly accountId: string;
  readonly password: string;
  /** Client address, for the rate limit. */
  readonly address: string;
}

export class Leaving {
  readonly #options: LeavingOptions;

  constructor(options: LeavingOptions) {
    this.#options = options;
  }

  /** Deletes the account. Throws Refusal `invalid_fields` (`password`) and `rate_limited`. */
  async leave({ accountId, password, address }: Leave): Promise<void> {
    const { accounts, logins, standings } = this.#options;
    const { email } = accounts.describe(accountId);
    if (accounts.signIn(email)?.passwordHash === undefined) {
      throw invalidField(
        'password',
        'this account has no password; ask the operator of this hub to set one, or to delete it',
      );
    }
    try {
      await logins.check({ email, password, address });
    } catch (error) {
      if (!(error instanceof Refusal) || error.fault.kind !== 'wrong_login') throw error;
      throw invalidField('password', 'password is wrong');
    }
    await standings.delete(accountId, { by: 'user', address, agent: null });
  }
}
