/** Decides who may make an account here: the operator's rule, invitations, and how many strangers a day. */
import { Refusal } from '../../common/fault.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { DAY_MS } from '../../time/calendar.ts';
import type { Invitations } from './invitations.ts';
import { signUpDays } from './records.ts';

/** Who may sign up: anyone, whoever has an invitation, nobody, or emails of these domains. */
export type SignupRule =
  | { readonly kind: 'open' | 'invite' | 'closed' }
  | { readonly kind: 'domains'; readonly domains: readonly string[] };

export interface SignUpsOptions {
  readonly store: Store;
  readonly invitations: Invitations;
  readonly rule: SignupRule;
  /** New accounts a UTC day without an invitation; 0: any number. */
  readonly perDay: number;
  readonly now: () => number;
}

/** An email that may make an account. `take` belongs to the decision that makes it, and may still refuse. */
export interface Admission {
  readonly take: (batch: Batch) => void;
  readonly isInvited: boolean;
}

export class SignUps {
  readonly #options: SignUpsOptions;

  constructor(options: SignUpsOptions) {
    this.#options = options;
  }

  /** Refuses with `signup_closed`, `invalid_fields` (`invite_code`) or `signups_spent`. `email` in its compared form. */
  admit(email: string, inviteCode: string | undefined): Admission {
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

  /** How many there were today. Refuses with `signups_spent` when those are all. */
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

/** Undefined: the rule lets this email in. A domain is a filter and proves nothing, because no mail is sent to it. */
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
