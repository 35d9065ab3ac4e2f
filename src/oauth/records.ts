/** Defines the tables of device sign-in. Codes and tokens are never stored, only their keyed hashes. */
import { recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

type GrantStatus = 'pending' | 'approved' | 'denied';

/** A device requesting sign-in. The row is removed when its tokens are issued. */
export interface DeviceGrantRecord {
  readonly client_id: string;
  readonly device_name: string | null;
  /** Granted scopes, separated by spaces. */
  readonly scope: string;
  /** Address of the device. */
  readonly address: string;
  readonly user_hash: string;
  readonly asked_ms: number;
  readonly expires_ms: number;
  readonly status: GrantStatus;
  /** The account that approved it. */
  readonly account_id: string | null;
}

/** A signed-in device: the family of refresh tokens from one approval. */
export interface SignInRecord {
  readonly account_id: string;
  readonly client_id: string;
  readonly device_name: string | null;
  readonly scope: string;
  /** The MCP key that the device got; absent: none, or an older record. */
  readonly key_id?: string;
  /** True: authorized in a browser, for a client; absent: a device, by user code. */
  readonly via_browser?: boolean;
  readonly created_at: string;
  /** Time of the last token rotation. */
  readonly used_at: string;
  /** Keyed hash of the current refresh token. */
  readonly current_hash: string;
  /** The previous token, and the nonce used to derive the current one from it. */
  readonly previous: { readonly hash: string; readonly nonce: string; readonly isRetried: boolean } | null;
  readonly rotated_ms: number;
  /** Of the data file when the current token was issued; absent in older records. */
  readonly epoch?: string;
  /** Expiry of the current refresh token. */
  readonly expires_ms: number;
}

export const deviceGrants = defineTable<[deviceHash: string], DeviceGrantRecord>('device_grants', recordCodec(1), {
  devices: 'any',
});

export const deviceUserCodes = defineTable<[userHash: string], { readonly device_hash: string }>(
  'device_user_codes',
  recordCodec(1),
  { devices: 'any' },
);

/** Grants by expiry time. */
export const deviceExpiries = defineTable<[expiresMs: number, deviceHash: string], object>(
  'device_expiries',
  recordCodec(1),
  { devices: 'any' },
);

export const signIns = defineTable<[signInId: string], SignInRecord>('sign_ins', recordCodec(1), {
  account: { member: 'account_id' },
});

export const accountSignIns = defineTable<[accountId: string, signInId: string], object>(
  'account_sign_ins',
  recordCodec(1),
  { account: 0 },
);

/** The account linked to a subject of an identity provider. */
export const identities = defineTable<[issuer: string, subject: string], { readonly account_id: string }>(
  'identities',
  recordCodec(1),
  { account: { member: 'account_id' } },
);

export interface IdentityRecord {
  readonly issuer: string;
  readonly subject: string;
  readonly label: string | null;
  readonly linked_at: string;
}

export const accountIdentities = defineTable<[accountId: string, identityId: string], IdentityRecord>(
  'account_identities',
  recordCodec(1),
  { account: 0 },
);

/** A client registered by the operator, or dynamically (RFC 7591) with an earlier version. */
export interface OAuthClientRecord {
  readonly client_name: string | null;
  readonly redirect_uris: readonly string[];
  readonly registered_ms: number;
  /** Null: registered by the operator, never expires. */
  readonly expires_ms: number | null;
}

export const oauthClients = defineTable<[clientId: string], OAuthClientRecord>('oauth_clients', recordCodec(1), {
  clients: 'any',
});

/** Stored dynamic registrations by expiry time. */
export const oauthClientExpiries = defineTable<[expiresMs: number, clientId: string], object>(
  'oauth_client_expiries',
  recordCodec(1),
  { clients: 'any' },
);

export const oauthTables: readonly AnyTable[] = [
  deviceGrants,
  deviceUserCodes,
  deviceExpiries,
  signIns,
  accountSignIns,
  identities,
  accountIdentities,
  oauthClients,
  oauthClientExpiries,
];
