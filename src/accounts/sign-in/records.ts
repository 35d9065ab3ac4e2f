/** Defines the tables of sign-in: second factors and password resets. */
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

export interface SecondFactorRecord {
  /** Sealed (encrypted at rest). */
  readonly secret: Uint8Array;
  /** Null: not confirmed with a code yet, so sign-in does not ask for one. */
  readonly on_since: string | null;
  /** Newest period with an accepted code: codes of this and earlier periods are refused. */
  readonly last_step: number;
  /** Keyed hashes of the unused recovery codes. */
  readonly recovery: readonly string[];
}

export const secondFactors = defineTable<[accountId: string], SecondFactorRecord>('second_factors', recordCodec(1), {
  account: 0,
});

export interface PasswordResetRecord {
  /** Keyed hash of the newest token; earlier tokens no longer work. */
  readonly hash: string;
  readonly expires_ms: number;
}

/** The open password reset of an account; at most one. */
export const passwordResets = defineTable<[accountId: string], PasswordResetRecord>('password_resets', recordCodec(1), {
  account: 0,
});

export const signInTables: readonly AnyTable[] = [secondFactors, passwordResets];
