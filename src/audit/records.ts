/**
 * Defines the table of security events: what happened to an account, when, by whom, from where. Never contains a
 * secret.
 */
import { recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** Every act recorded, and how people read it. */
export const AUDITED = {
  account_created: 'Account created',
  account_imported: 'Account imported',
  account_exported: 'Account exported',
  account_disabled: 'Account disabled',
  account_enabled: 'Account enabled',
  account_quota: 'Quota changed',
  account_operator: 'Operator role changed',
  account_deleted: 'Account deleted',
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in failed',
  signed_out: 'Signed out',
  browser_signed_out: 'Browser signed out',
  password_confirmed: 'Password confirmed',
  password_changed: 'Password changed',
  password_reset_asked: 'Password reset requested',
  second_factor_on: 'Two-factor sign-in turned on',
  second_factor_off: 'Two-factor sign-in turned off',
  recovery_code_used: 'Recovery code used',
  recovery_codes_made: 'Recovery codes replaced',
  key_created: 'Key created',
  key_revoked: 'Key revoked',
  account_key_replaced: 'Account key replaced',
  token_created: 'Access token created',
  token_revoked: 'Access token revoked',
  device_signed_in: 'Device signed in',
  app_connected: 'App connected',
  device_signed_out: 'Device or app signed out',
  refresh_token_replayed: 'Used refresh token sent again; sign-in ended',
  identity_linked: 'Identity linked',
  identity_unlinked: 'Identity unlinked',
  mirror_credential_created: 'Mirror credential created',
  mirror_credential_rotated: 'Mirror credential replaced, archives kept readable',
  mirror_credential_destroyed: 'Mirror credential destroyed',
  mirror_uploader_created: 'Credential of a CI job created',
  mirror_uploader_revoked: 'Credential of a CI job revoked',
  mirror_archives_removed: 'Backups removed',
  invitation_created: 'Invitation created',
  invitation_revoked: 'Invitation revoked',
  app_registered: 'App registered',
  app_removed: 'App removed',
  webhook_created: 'Webhook created',
  webhook_changed: 'Webhook changed',
  webhook_removed: 'Webhook removed',
  webhook_disabled: 'Webhook turned off after failures',
  settings_changed: 'Settings changed',
  version_changed: 'Version changed',
} as const;

export type AuditedAct = keyof typeof AUDITED;

/** Who did it, and from where. */
export interface Source {
  /** A user signed in to the account, a client with one of its keys or codes, the hub's operator, or a stranger. */
  readonly by: 'user' | 'client' | 'operator' | 'stranger';
  readonly address: string | null;
  /** Name of the browser or program, self-reported. */
  readonly agent: string | null;
  /** Which operator: the email of the account, or the system's user at the command line. Only the hub's log keeps it. */
  readonly who?: string | undefined;
}

/** Sender of a request. */
export interface RemoteSource extends Source {
  readonly address: string;
}

export interface AuditRecord extends Source {
  readonly at_ms: number;
  readonly act: AuditedAct;
  /** Object of the act (the name of a key, a device), or the reason why a sign-in failed. */
  readonly detail: string | null;
  /** Number of equal consecutive events merged into this one. */
  readonly count?: number;
}

/** Failures are stored apart from acts, so that password guessing cannot evict acts. */
export type AuditRing = 'act' | 'failure';

/** By account and ring, numbered in order. */
export const auditEvents = defineTable<[accountId: string, ring: AuditRing, number: number], AuditRecord>(
  'audit_events',
  recordCodec(1),
  { account: 0, directory: 'new' },
);

/** An event of the hub's own log, which outlives accounts. */
export interface HubEventRecord extends AuditRecord {
  /** The account that it is about; null: none. */
  readonly account_id: string | null;
}

/** What operators did, which accounts came and went, and which settings changed: numbered in order. */
export const hubEvents = defineTable<[number: number], HubEventRecord>('hub_events', recordCodec(1), {
  account: 'any',
  directory: 'any',
  clients: 'any',
  hub: 'any',
});

export const auditTables: readonly AnyTable[] = [auditEvents, hubEvents];
