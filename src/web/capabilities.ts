/** Lists the capabilities used by the pages. Types only. */
import type { Logins } from '../accounts/logins.ts';
import type { Onboarding } from '../accounts/onboarding.ts';
import type { Accounts } from '../accounts/service.ts';
import type { BrowserSessions } from '../accounts/sessions.ts';
import type { SignInLetters } from '../accounts/sign-in/letters.ts';
import type { PasswordResets } from '../accounts/sign-in/password-reset.ts';
import type { SecondFactors } from '../accounts/sign-in/second-factor.ts';
import type { Invitations } from '../accounts/sign-up/invitations.ts';
import type { AccountDirectory } from '../accounts/standing/directory.ts';
import type { Leaving } from '../accounts/standing/leaving.ts';
import type { Standings } from '../accounts/standing/standings.ts';
import type { TimeZones } from '../accounts/time-zones.ts';
import type { AccessTokens } from '../accounts/tokens.ts';
import type { AuditLog } from '../audit/log.ts';
import type { DevDocs } from '../documents/dev-docs/service.ts';
import type { Handoffs } from '../documents/handoffs/service.ts';
import type { Papers } from '../documents/papers/service.ts';
import type { MirrorBlobs } from '../mirror/blobs.ts';
import type { MirrorCredentials } from '../mirror/credentials.ts';
import type { Uploaders } from '../mirror/uploaders.ts';
import type { OAuthClients } from '../oauth/clients/clients.ts';
import type { AuthorizationCodes } from '../oauth/code/codes.ts';
import type { DeviceGrants } from '../oauth/device-grants.ts';
import type { Identities } from '../oauth/provider/identities.ts';
import type { SignIns } from '../oauth/sign-ins.ts';
import type { Sync } from '../sync/service.ts';
import type { Tasks } from '../tasks/service.ts';

/** Each page picks what it needs. */
export interface Capabilities {
  readonly accounts: Accounts;
  readonly timeZones: TimeZones;
  readonly sessions: BrowserSessions;
  readonly audit: AuditLog;
  readonly standings: Standings;
  readonly directory: AccountDirectory;
  readonly invitations: Invitations;
  readonly logins: Logins;
  readonly onboarding: Onboarding;
  readonly leaving: Leaving;
  readonly letters: SignInLetters;
  readonly secondFactors: SecondFactors;
  readonly resets: PasswordResets;
  readonly devices: DeviceGrants;
  readonly clients: OAuthClients;
  readonly codes: AuthorizationCodes;
  readonly signIns: SignIns;
  readonly tokens: AccessTokens;
  readonly identities: Identities;
  readonly blobs: MirrorBlobs;
  readonly credentials: MirrorCredentials;
  readonly uploaders: Uploaders;
  readonly tasks: Tasks;
  readonly sync: Sync;
  readonly docs: DevDocs;
  readonly handoffs: Handoffs;
  readonly papers: Papers;
}
