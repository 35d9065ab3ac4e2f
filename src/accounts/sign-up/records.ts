/** Defines the tables of sign-up: open invitations, and the number of accounts created today without one. */
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

export interface InvitationRecord {
  /** Identifies the invitation in lists; cannot be used to sign up. */
  readonly invite_id: string;
  /** The only email allowed to use it; null: any. */
  readonly email: string | null;
  readonly uses_left: number;
  readonly created_at: string;
  readonly expires_ms: number;
}

/** Invitations by the keyed hash of their code. The row is removed with the last use. */
export const invitations = defineTable<[hash: string], InvitationRecord>('invitations', recordCodec(1), {
  directory: 'any',
});

/** Number of accounts created without an invitation, by UTC day. Only today's row is kept. */
export const signUpDays = defineTable<[day: string], { readonly accounts: number }>('sign_up_days', recordCodec(1), {
  directory: 'any',
});

export const signUpTables: readonly AnyTable[] = [invitations, signUpDays];
