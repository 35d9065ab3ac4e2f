/** Owns the tables of accounts and keys. A key itself is never stored, only its keyed hash. */
import { recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

export interface AccountRecord {
  readonly email: string;
  readonly name: string | null;
  /** argon2id, encoded; null: an account made on the command line, which cannot sign in with a password. */
  readonly password_hash?: string | null;
  readonly created_at: string;
  /** IANA name of the zone of its days; absent or null: the default of the hub. */
  readonly time_zone?: string | null;
}

export type KeyKind = 'account' | 'mcp';

export interface KeyRecord {
  readonly kind: KeyKind;
  readonly name: string;
  readonly hash: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  /** It may read and change nothing. */
  readonly read_only?: boolean;
}

export const accounts = defineTable<[accountId: string], AccountRecord>('accounts', recordCodec(1), {
  account: 0,
  directory: 'new',
});

/** Unique emails, in their compared form. */
export const emails = defineTable<[email: string], { readonly account_id: string }>('emails', recordCodec(1), {
  directory: 'any',
});

export const keys = defineTable<[accountId: string, keyId: string], KeyRecord>('keys', recordCodec(1), {
  account: 0,
  directory: 'new',
});

/** A key that opens its account. */
export interface LiveKey {
  readonly account_id: string;
  readonly key_id: string;
  readonly read_only?: boolean;
}

/** Live keys only: revoking one removes its row, so a hit is a valid key. */
export const keyHashes = defineTable<[hash: string], LiveKey>('key_hashes', recordCodec(1), {
  account: { member: 'account_id' },
  directory: 'new',
});

export interface AccessTokenRecord {
  readonly account_id: string;
  readonly expires_ms: number;
  /** The sign-in that it ends with; absent: minted by the operator. */
  readonly sign_in?: string;
  /** It may read and change nothing. */
  readonly read_only?: boolean;
}

export const accessTokens = defineTable<[hash: string], AccessTokenRecord>('access_tokens', recordCodec(1), {
  account: { member: 'account_id' },
});

/** Access tokens of an account by the time they expire. */
export const tokenExpiries = defineTable<[accountId: string, expiresMs: number, hash: string], object>(
  'access_token_expiries',
  recordCodec(1),
  { account: 0 },
);

export interface BrowserSessionRecord {
  readonly account_id: string;
  readonly created_ms: number;
  /** Written at most once a minute. */
  readonly seen_ms: number;
  /** When the password was last given; absent: at sign-in. */
  readonly confirmed_ms?: number;
  /** What the browser calls itself; null: nothing. */
  readonly agent: string | null;
}

/** Signed-in browsers by the keyed hash of their session id. */
export const browserSessions = defineTable<[hash: string], BrowserSessionRecord>('browser_sessions', recordCodec(1), {
  account: { member: 'account_id' },
});

/** Signed-in browsers of an account. */
export const sessionOwners = defineTable<[accountId: string, hash: string], Record<string, never>>(
  'browser_session_owners',
  recordCodec(1),
  { account: 0 },
);

/** Accounts that an import is writing and nobody can reach. What a stop leaves here is removed by the next start. */
export const accountImports = defineTable<[accountId: string], { readonly started_at: string }>(
  'account_imports',
  recordCodec(1),
  { hub: 'any', directory: 'any' },
);

export const accountTables: readonly AnyTable[] = [
  accounts,
  emails,
  keys,
  keyHashes,
  accessTokens,
  tokenExpiries,
  browserSessions,
  sessionOwners,
  accountImports,
];
