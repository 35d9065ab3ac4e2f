/** Decides who may create an account: the operator's rule, invitations, and a daily limit for sign-ups without one. */
import { Refusal } from '../../common/fault.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { DAY_MS } from '../../time/calendar.ts';
import type { Invitations } from './invitations.ts';
import { signUpDays } from './records.ts';

/** Who may sign up: anyone, holders of an invitation, nobody, or emails of the given domains. */
export type SignupRule =
  | { readonly kind: 'open' | 'invite' | 'closed' }
  | { readonly kind: 'domains'; readonly domains: readonly string[] };

export interface SignUpsOptions {
  readonly store: Store;
  readonly invitations: Invitations;
  readonly rule: SignupRule;
  /** New accounts per UTC day without an invitation; 0: unlimited. */
  readonly perDay: number;
  readonly now: () => number;
}

/** Permission to create an account. `take` runs within the decision that creates it, and may still throw Refusal. */
export interface SignUpAdmission {
  readonly take: (batch: Batch) => void;
  readonly isInvited: boolean;
}

export class SignUps {
  readonly #options: SignUpsOptions;

  constructor(options: SignUpsOptions) {
    this.#options = options;
  }

  /** Admits a normalized email. Throws Refusal `signup_closed`, `invalid_fields` (`invite_code`) or `signups_spent`. */
  admit(email: string, inviteCode: string | undefined): SignUpAdmission {
    const { store, invitations, rule } = this.#options;
    if (rule.kind !== 'closed' && inviteCode !== undefined && inviteCode !== '') {
      const code = inviteCode.trim();
      invitations.check(store, code, email);
      return { isInvited: true, take: (batch) => invitations.use(batch, code, email) };
    }
    const closed = whyClosed(rule, email);
    if (closed !== undefined) throw new Refusal({ kind: 'signup_closed', detail: closed });
    this.#countOf(store);
    return { isInvited: false, take: (batch) => this.#count(batch) };
  }

  #count(batch: Batch): void {
    const { day, accounts } = this.#countOf(batch);
    for (const key of batch.keys(signUpDays)) if (key[0] !== day) batch.remove(signUpDays, key);
    batch.put(signUpDays, [day], { accounts: accounts + 1 });
  }

  /** Returns today's number of sign-ups. Throws Refusal `signups_spent` when the limit is reached. */
  #countOf(reader: Pick<Reader, 'get'>): { readonly day: string; readonly accounts: number } {
    const { perDay, now } = this.#options;
    const nowMs = now();
    const day = new Date(nowMs).toISOString().slice(0, 10);
    const accounts = reader.get(signUpDays, [day])?.accounts ?? 0;
    if (perDay > 0 && accounts >= perDay) {
      const retryAfterSeconds = Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
      throw new Refusal({ kind: 'signups_spent', perDay, retryAfterSeconds });
    }
    return { day, accounts };
  }
}

/** Undefined: the rule admits this email. A domain is only a filter: no mail is sent, so it proves nothing. */
function whyClosed(rule: SignupRule, email: string): string | undefined {
  switch (rule.kind) {
    case 'open':
      return undefined;
    case 'invite':
      return 'this hub accepts new accounts by invitation only; ask its operator for one and pass its invite_code';
    case 'closed':
      return 'sign-up is closed on this hub; ask its operator for an account';
    case 'domains':
      return rule.domains.includes(email.slice(email.lastIndexOf('@') + 1))
        ? undefined
        : 'sign-up on this hub is for certain email domains only; ask its operator for an invitation';
  }
}
