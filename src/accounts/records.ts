/** Defines the tables of accounts and keys. A key is never stored, only its keyed hash. */
import { emptyRecordCodec, recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable, type Reader } from '../store/table.ts';

export interface AccountRecord {
  readonly email: string;
  readonly name: string | null;
  /** argon2id, encoded; null: created on the command line, without password sign-in. */
  readonly password_hash?: string | null;
  readonly created_at: string;
  /** IANA name of the account's time zone; absent or null: the hub's default. */
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
  /** True for a read-only key. */
  readonly read_only?: boolean;
}

export const accounts = defineTable<[accountId: string], AccountRecord>('accounts', recordCodec(1), {
  account: 0,
  directory: 'new',
});

/** Unique emails, normalized. */
export const emails = defineTable<[email: string], { readonly account_id: string }>('emails', recordCodec(1), {
  directory: 'any',
});

/**
 * The row of a normalized email. Emails were stored as typed before they were normalized to Unicode form NFC, so one
 * with composed letters is also looked for in form NFD.
 */
export function rowOfEmail(reader: Pick<Reader, 'get'>, email: string): { readonly account_id: string } | undefined {
  const found = reader.get(emails, [email]);
  const decomposed = email.normalize('NFD');
  return found !== undefined || decomposed === email ? found : reader.get(emails, [decomposed]);
}

export const keys = defineTable<[accountId: string, keyId: string], KeyRecord>('keys', recordCodec(1), {
  account: 0,
  directory: 'new',
});

/** A valid key and its account. */
export interface LiveKey {
  readonly account_id: string;
  readonly key_id: string;
  readonly read_only?: boolean;
}

/** Valid keys only: revoking a key removes its row, so a hit is a valid key. */
export const keyHashes = defineTable<[hash: string], LiveKey>('key_hashes', recordCodec(1), {
  account: { member: 'account_id' },
  directory: 'new',
});

export interface AccessTokenRecord {
  readonly account_id: string;
  readonly expires_ms: number;
  /** The sign-in whose end also ends this token; absent: created by the operator. */
  readonly sign_in?: string;
  /** True for a read-only token. */
  readonly read_only?: boolean;
}

export const accessTokens = defineTable<[hash: string], AccessTokenRecord>('access_tokens', recordCodec(1), {
  account: { member: 'account_id' },
});

/** Access tokens of an account by expiry time. */
export const tokenExpiries = defineTable<[accountId: string, expiresMs: number, hash: string], object>(
  'access_token_expiries',
  recordCodec(1),
  { account: 0 },
);

export interface BrowserSessionRecord {
  readonly account_id: string;
  readonly created_ms: number;
  /** Updated at most once a minute. */
  readonly seen_ms: number;
  /** Time of the last password confirmation; absent: at sign-in. */
  readonly confirmed_ms?: number;
  /** The browser's User-Agent; null: none sent. */
  readonly agent: string | null;
}

/** Signed-in browsers by the keyed hash of their session id. */
export const browserSessions = defineTable<[hash: string], BrowserSessionRecord>('browser_sessions', recordCodec(1), {
  account: { member: 'account_id' },
});

/** Signed-in browsers of an account. */
export const sessionOwners = defineTable<[accountId: string, hash: string], Record<string, never>>(
  'browser_session_owners',
  emptyRecordCodec(1),
  { account: 0 },
);

/** Accounts being imported, not reachable yet. The next start removes those left by an interrupted import. */
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
