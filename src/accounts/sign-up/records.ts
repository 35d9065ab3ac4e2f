/** Owns the tables of sign-up: invitations that are open, and how many accounts strangers made today. */
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

export interface InvitationRecord {
  /** Names it in lists; it admits nobody. */
  readonly invite_id: string;
  /** Only this address may use it; null: any. */
  readonly email: string | null;
  readonly uses_left: number;
  readonly created_at: string;
  readonly expires_ms: number;
}

/** Invitations by the keyed hash of their code. A used-up one has no row. */
export const invitations = defineTable<[hash: string], InvitationRecord>('invitations', recordCodec(1), {
  directory: 'any',
});

/** Accounts that were made without an invitation, by UTC day. Only today's row is kept. */
export const signUpDays = defineTable<[day: string], { readonly accounts: number }>('sign_up_days', recordCodec(1), {
  directory: 'any',
});

export const signUpTables: readonly AnyTable[] = [invitations, signUpDays];
