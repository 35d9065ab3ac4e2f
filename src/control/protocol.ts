/** Defines the messages between command line and service on the control socket: one JSON line each way. */
import { z } from 'zod';
import type { KeySummary, NewAccount, NewKey } from '../accounts/service.ts';
import type { InvitationSummary, NewInvitation } from '../accounts/sign-up/invitations.ts';
import type { AccountPage, AccountView } from '../accounts/standing/directory.ts';
import type { NewAccessToken } from '../accounts/tokens.ts';
import type { HubEvent, SecurityEvent } from '../audit/log.ts';
import { commit, version } from '../common/version.ts';
import type { Config } from '../config.ts';
import type { HubCheck, MemberReport } from '../http/route/health.ts';
import { limits } from '../limits/service.ts';
import type { OperatorClient } from '../oauth/clients/operator-clients.ts';
import type { GrantDescription } from '../oauth/device-grants.ts';
import type { LinkedIdentity } from '../oauth/provider/identities.ts';

const email = z.string();

/** Bytes; null: the default quota of the service. */
const bytes = z.number().int().min(0).max(limits.quotaBytesMax).nullable().optional();
const quotaChange = z.strictObject({ blobs: bytes, files: bytes, history: bytes, documents: bytes });

/** Parameters of every command, by name. */
export const controlRequest = z.discriminatedUnion('command', [
  z.strictObject({ command: z.literal('account.create'), email, name: z.string().optional() }),
  z.strictObject({ command: z.literal('account.password'), email, passwordHash: z.string() }),
  z.strictObject({ command: z.literal('account.reset_second_factor'), email }),
  z.strictObject({ command: z.literal('account.list'), after: z.string().optional(), search: z.string().optional() }),
  z.strictObject({ command: z.literal('account.show'), email }),
  z.strictObject({ command: z.literal('account.disable'), email }),
  z.strictObject({ command: z.literal('account.enable'), email }),
  z.strictObject({ command: z.literal('account.delete'), email }),
  z.strictObject({ command: z.literal('account.operator'), email, operator: z.boolean() }),
  z.strictObject({
    command: z.literal('account.quota'),
    email,
    quotas: quotaChange,
    keepsWriting: z.boolean().optional(),
  }),
  z.strictObject({
    command: z.literal('account.import'),
    folder: z.string(),
    email: email.optional(),
    quotas: quotaChange.optional(),
  }),
  z.strictObject({
    command: z.literal('invite.create'),
    email: email.optional(),
    uses: z.number().optional(),
    days: z.number().optional(),
  }),
  z.strictObject({ command: z.literal('invite.list') }),
  z.strictObject({ command: z.literal('invite.revoke'), inviteId: z.string() }),
  z.strictObject({ command: z.literal('client.add'), name: z.string(), redirects: z.array(z.string()) }),
  z.strictObject({ command: z.literal('client.list') }),
  z.strictObject({ command: z.literal('client.remove'), clientId: z.string() }),
  z.strictObject({ command: z.literal('token.create'), email }),
  z.strictObject({ command: z.literal('key.create'), email, name: z.string(), readOnly: z.boolean().optional() }),
  z.strictObject({ command: z.literal('key.list'), email }),
  z.strictObject({ command: z.literal('key.revoke'), email, keyId: z.string() }),
  z.strictObject({ command: z.literal('device.answer'), email, code: z.string(), isApproved: z.boolean() }),
  z.strictObject({ command: z.literal('identity.link'), email, subject: z.string() }),
  z.strictObject({ command: z.literal('identity.list'), email }),
  z.strictObject({ command: z.literal('audit.list'), email, max: z.number() }),
  z.strictObject({ command: z.literal('audit.hub'), max: z.number() }),
  z.strictObject({ command: z.literal('audit.exported'), email }),
  z.strictObject({
    command: z.literal('damage.set_aside'),
    blobs: z.array(z.tuple([z.string(), z.string(), z.string()])).max(limits.setAsideAtOnceMax),
    versions: z.array(z.tuple([z.string(), z.number().int().positive()])).max(limits.setAsideAtOnceMax),
  }),
  z.strictObject({ command: z.literal('identity.unlink'), email, identityId: z.string() }),
  z.strictObject({ command: z.literal('clock.mend'), apply: z.boolean() }),
  z.strictObject({ command: z.literal('member.report') }),
  z.strictObject({ command: z.literal('member.hand_over'), to: z.string().optional() }),
  z.strictObject({ command: z.literal('member.snapshot') }),
  z.strictObject({ command: z.literal('member.forget'), name: z.string() }),
  z.strictObject({ command: z.literal('settings') }),
  z.strictObject({ command: z.literal('health') }),
]);

export type ControlRequest = z.infer<typeof controlRequest>;

/** The requests of some commands. */
export type ControlRequestOf<C extends ControlRequest['command']> = Extract<ControlRequest, { readonly command: C }>;

/** An imported account with its new keys. The mirror credential is null when the account had none. */
export interface ImportedAccount extends NewAccount {
  readonly mirror_token: string | null;
  readonly mirror_secret: string | null;
  readonly records: number;
  readonly bytes: number;
}

/** A new invitation with its link. `mailed`: null without a recipient or a mail server, false if that refused the letter. */
export interface SentInvitation extends NewInvitation {
  readonly link: string;
  readonly mailed: boolean | null;
}

/**
 * Numbers of records that are dated after now. `versions`: of documents. `files`: by their clocks. `sign_ins`: those that
 * have ended because of it.
 */
export interface FutureRecords {
  readonly tasks: number;
  readonly documents: number;
  readonly versions: number;
  readonly files: number;
  readonly sign_ins: number;
}

/** What the process that owns the data folder uses. */
export interface RunningSettings {
  readonly version: string;
  /** Null: unknown. A hub of before this field has none. */
  readonly commit?: string | null;
  readonly node: string;
  readonly pid: number;
  readonly given: Config['given'];
}

export const runningSettings = (given: Config['given']): RunningSettings => ({
  version,
  commit: commit ?? null,
  node: process.version,
  pid: process.pid,
  given,
});

/** What the running hub says of itself, as `/ready` does. */
export interface HubHealth {
  readonly status: 'ready' | 'not_ready';
  readonly checks: readonly HubCheck[];
}

export interface ControlResults {
  readonly 'account.create': NewAccount;
  readonly 'account.password': { readonly email: string };
  readonly 'account.reset_second_factor': { readonly email: string };
  readonly 'account.list': AccountPage;
  readonly 'account.show': AccountView;
  readonly 'account.disable': AccountView;
  readonly 'account.enable': AccountView;
  readonly 'account.delete': { readonly deleted: string };
  readonly 'account.operator': AccountView;
  readonly 'account.quota': AccountView;
  readonly 'account.import': ImportedAccount;
  readonly 'invite.create': SentInvitation;
  readonly 'invite.list': { readonly invitations: readonly InvitationSummary[] };
  readonly 'invite.revoke': { readonly revoked: string };
  readonly 'client.add': OperatorClient;
  readonly 'client.list': { readonly clients: readonly OperatorClient[] };
  readonly 'client.remove': { readonly removed: string; readonly sign_ins_ended: number };
  readonly 'token.create': NewAccessToken;
  readonly 'key.create': NewKey;
  readonly 'key.list': { readonly keys: readonly KeySummary[] };
  /** `signed_out`: the device whose key it was; null: none, or one without a name. */
  readonly 'key.revoke': {
    readonly revoked: string;
    readonly signed_out: string | null;
    /** When the account's credential of backups, which the key could read, was made: it stays valid. Null: none. */
    readonly backup_credential: string | null;
  };
  readonly 'device.answer': GrantDescription;
  readonly 'identity.link': LinkedIdentity;
  readonly 'identity.list': { readonly identities: readonly LinkedIdentity[] };
  readonly 'audit.list': { readonly events: readonly SecurityEvent[] };
  readonly 'audit.hub': { readonly events: readonly HubEvent[] };
  readonly 'clock.mend': FutureRecords;
  readonly 'damage.set_aside': { readonly set_aside: number };
  readonly 'audit.exported': { readonly exported: string };
  readonly 'identity.unlink': { readonly unlinked: string };
  readonly 'member.report': MemberReport;
  readonly 'member.hand_over': { readonly handed_over: string };
  readonly 'member.snapshot': { readonly position: number };
  readonly 'member.forget': { readonly forgotten: string };
  readonly settings: RunningSettings;
  readonly health: HubHealth;
}

export type ControlResult = ControlResults[keyof ControlResults];

/** Progress of long work, sent any number of times before its result. */
export const progressSchema = z.strictObject({ done: z.number(), total: z.number() });

export type ControlProgress = z.infer<typeof progressSchema>;

export type ControlAnswer =
  | { readonly ok: true; readonly result: ControlResult }
  | { readonly ok: false; readonly error: string };
