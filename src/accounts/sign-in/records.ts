/** Owns the tables of signing in: second factors, and what a forgotten password is reset with. */
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

export interface SecondFactorRecord {
  /** Sealed. */
  readonly secret: Uint8Array;
  /** Null: not confirmed with a code yet, so nothing asks for it. */
  readonly on_since: string | null;
  /** The newest period a code of which was taken: that and earlier ones are refused. */
  readonly last_step: number;
  /** Keyed hashes of the recovery codes that were not used. */
  readonly recovery: readonly string[];
}

export const secondFactors = defineTable<[accountId: string], SecondFactorRecord>('second_factors', recordCodec(1), {
  account: 0,
});

export interface PasswordResetRecord {
  /** Keyed hash of the newest token; earlier ones stopped working. */
  readonly hash: string;
  readonly expires_ms: number;
}

/** The one reset that an account has open. */
export const passwordResets = defineTable<[accountId: string], PasswordResetRecord>('password_resets', recordCodec(1), {
  account: 0,
});

export const signInTables: readonly AnyTable[] = [secondFactors, passwordResets];
