/** Runs a control command against the service, whether it was typed in this process or another. */

import { resetPassword } from '../accounts/logins.ts';
import type { Accounts } from '../accounts/service.ts';
import type { BrowserSessions } from '../accounts/sessions.ts';
import { turnOffSecondFactor } from '../accounts/sign-in/second-factor.ts';
import type { AccountDirectory, AccountView } from '../accounts/standing/directory.ts';
import type { Standings } from '../accounts/standing/standings.ts';
import type { AccessTokens } from '../accounts/tokens.ts';
import type { AuditLog } from '../audit/log.ts';
import { noteAct, OPERATOR } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import type { Config } from '../config.ts';
import type { MemberTools, Readiness } from '../http/route/health.ts';
import { credentials } from '../mirror/records.ts';
import { setBlobAside } from '../mirror/set-aside.ts';
import type { OperatorClients } from '../oauth/clients/operator-clients.ts';
import type { DeviceGrants } from '../oauth/device-grants.ts';
import type { Identities } from '../oauth/provider/identities.ts';
import type { SignIns } from '../oauth/sign-ins.ts';
import type { QuotaBytes } from '../quotas/quotas.ts';
import { setVersionAside } from '../sync/log/set-aside.ts';
import type { Importer, ImportProgress } from './importer.ts';
import { invite, type Reachable } from './invite.ts';
import { isMemberRequest, runMemberControl } from './member.ts';
import { type MendOptions, mendClock } from './mend-clock.ts';
import { type ControlRequest, type ControlRequestOf, type ControlResult, runningSettings } from './protocol.ts';

export interface ControlTools extends Reachable, MendOptions {
  readonly accounts: Accounts;
  readonly standings: Standings;
  readonly directory: AccountDirectory;
  readonly identities: Identities;
  readonly tokens: AccessTokens;
  readonly devices: DeviceGrants;
  readonly signIns: SignIns;
  readonly sessions: BrowserSessions;
  readonly operatorClients: OperatorClients;
  readonly imports: Importer;
  readonly given: Config['given'];
  readonly listening: { ready: () => Promise<Readiness> };
  readonly audit: AuditLog;
  /** Undefined: this hub has no log. */
  readonly member?: MemberTools | undefined;
}

/** Runs one command for an operator, `by`. `progress` reports the progress of long work and aborts when nobody waits for the result. */
export async function runControl(
  tools: ControlTools,
  request: ControlRequest,
  progress: ImportProgress,
  by: Source = OPERATOR,
): Promise<ControlResult> {
  const { accounts, standings, tokens } = tools;
  if (isMemberRequest(request)) return await runMemberControl(tools.member, request);
  switch (request.command) {
    case 'account.create':
      return await accounts.create({ email: request.email, name: request.name }, by);
    case 'account.password': {
      const accountId = accounts.idOfEmail(request.email);
      await resetPassword({ ...tools, now: Date.now }, accountId, request.passwordHash, by);
      return { email: accounts.describe(accountId).email };
    }
    case 'account.reset_second_factor': {
      const accountId = accounts.idOfEmail(request.email);
      await turnOffSecondFactor({ ...tools, now: Date.now }, accountId, by);
      return { email: accounts.describe(accountId).email };
    }
    case 'account.list':
    case 'account.show':
    case 'account.disable':
    case 'account.enable':
    case 'account.delete':
    case 'account.operator':
    case 'account.quota':
      return await runAccountControl(tools, request, by);
    case 'account.import':
      return await tools.imports.run({ ...request, quotas: setQuotas(request.quotas) }, progress);
    case 'invite.create':
      return await invite(tools, request, progress, by);
    case 'invite.list':
      return { invitations: tools.invitations.list() };
    case 'invite.revoke':
      await tools.invitations.revoke(request.inviteId, by);
      return { revoked: request.inviteId };
    case 'client.add':
    case 'client.list':
    case 'client.remove':
      return await runClientControl(tools.operatorClients, request, by);
    case 'token.create': {
      const accountId = accounts.idOfEmail(request.email);
      standings.check(accountId);
      return await tokens.mint(accountId, by);
    }
    case 'key.create':
    case 'key.list':
    case 'key.revoke':
      return await runKeyControl(tools, request, by);
    case 'device.answer':
      return await answerDevice(tools, request);
    case 'identity.link':
    case 'identity.list':
    case 'identity.unlink':
      return await runIdentityControl(tools, request, by);
    case 'health':
    case 'settings':
      return await describeHub(tools, request.command);
    case 'clock.mend':
      return await mendClock(tools, request.apply, progress);
    case 'damage.set_aside':
      return { set_aside: await setAside(tools, request) };
    case 'audit.list':
    case 'audit.hub':
    case 'audit.exported':
      return await runAuditControl(tools, request, by);
  }
}

/** Without those that are the hub's. */
function setQuotas(quotas: ControlRequestOf<'account.import'>['quotas'] = {}): Partial<QuotaBytes> {
  return Object.fromEntries(Object.entries(quotas).filter(([, bytes]) => bytes !== null));
}

async function answerDevice(
  { accounts, standings, devices }: ControlTools,
  { email, isApproved, code }: ControlRequestOf<'device.answer'>,
): Promise<ControlResult> {
  const accountId = accounts.idOfEmail(email);
  // The device could not use it, and would ask until its code expires.
  if (isApproved) standings.check(accountId);
  return isApproved ? await devices.approve(code, accountId) : await devices.deny(code, accountId);
}

async function runAuditControl(
  tools: ControlTools,
  request: ControlRequestOf<'audit.list' | 'audit.hub' | 'audit.exported'>,
  by: Source,
): Promise<ControlResult> {
  if (request.command === 'audit.hub') return { events: tools.audit.listHub(request.max) };
  const accountId = tools.accounts.idOfEmail(request.email);
  if (request.command === 'audit.list') return { events: tools.audit.list(accountId, request.max) };
  return { exported: await noteExport(tools, accountId, by) };
}

/** What the running hub says of itself. */
async function describeHub({ listening, given }: ControlTools, command: 'health' | 'settings'): Promise<ControlResult> {
  if (command === 'settings') return runningSettings(given);
  const { isReady, checks } = await listening.ready();
  return { status: isReady ? 'ready' : 'not_ready', checks };
}

type AccountCommand =
  | 'account.list'
  | 'account.show'
  | 'account.disable'
  | 'account.enable'
  | 'account.delete'
  | 'account.operator'
  | 'account.quota';

/** Lists accounts, controls their access, or sets their quotas. */
async function runAccountControl(
  { accounts, standings, directory }: ControlTools,
  request: ControlRequestOf<AccountCommand>,
  by: Source,
): Promise<ControlResult> {
  if (request.command === 'account.list') return directory.page({ after: request.after, search: request.search ?? '' });
  const accountId = accounts.idOfEmail(request.email);
  const view = viewOf(directory, accountId);
  switch (request.command) {
    case 'account.show':
      return view;
    case 'account.disable':
      await standings.disable(accountId, by);
      break;
    case 'account.enable':
      await standings.enable(accountId, by);
      break;
    case 'account.operator':
      await standings.change(accountId, { operator: request.operator }, by);
      break;
    case 'account.quota': {
      const { quotas, keepsWriting } = request;
      const change = {
        quotas: quotas as Record<string, number | null>,
        ...(keepsWriting === undefined ? {} : { keeps_writing: keepsWriting }),
      };
      await standings.change(accountId, change, by);
      break;
    }
    case 'account.delete':
      await standings.delete(accountId, by);
      return { deleted: view.email };
  }
  return viewOf(directory, accountId);
}

function viewOf(directory: AccountDirectory, accountId: string): AccountView {
  const view = directory.view(accountId);
  if (view === undefined) throw new Error('an email refers to an account that does not exist; run `cairn verify`');
  return view;
}

async function runKeyControl(
  { accounts, signIns, store }: ControlTools,
  request: ControlRequestOf<'key.create' | 'key.list' | 'key.revoke'>,
  by: Source,
): Promise<ControlResult> {
  const accountId = accounts.idOfEmail(request.email);
  switch (request.command) {
    case 'key.create':
      return await accounts.createKey(accountId, request.name, by, { readOnly: request.readOnly === true });
    case 'key.list':
      return { keys: accounts.listKeys(accountId) };
    case 'key.revoke': {
      // The key of a device that was signed in: without its refresh token, which would open the account again.
      const device = signIns.list(accountId).find(({ key_id: id }) => id === request.keyId);
      const key = accounts.listKeys(accountId).find(({ key_id: id }) => id === request.keyId);
      // A key with full access reads the token of backups, which goes on without it.
      const backups = key?.read_only === true ? undefined : store.get(credentials, [accountId]);
      if (device === undefined) await accounts.revokeKey(accountId, request.keyId, by);
      else await signIns.end(accountId, device.sign_in_id, by);
      return {
        revoked: request.keyId,
        signed_out: device?.device_name ?? null,
        backup_credential: backups?.created_at ?? null,
      };
    }
  }
}

async function runClientControl(
  clients: OperatorClients,
  request: ControlRequestOf<'client.add' | 'client.list' | 'client.remove'>,
  by: Source,
): Promise<ControlResult> {
  switch (request.command) {
    case 'client.add':
      return await clients.add(request, by);
    case 'client.list':
      return { clients: clients.list() };
    case 'client.remove':
      return { removed: request.clientId, sign_ins_ended: await clients.remove(request.clientId, by) };
  }
}

async function runIdentityControl(
  { accounts, identities }: ControlTools,
  request: ControlRequestOf<'identity.link' | 'identity.list' | 'identity.unlink'>,
  by: Source,
): Promise<ControlResult> {
  const accountId = accounts.idOfEmail(request.email);
  switch (request.command) {
    case 'identity.link':
      return await identities.linkSubject(accountId, request.subject, by);
    case 'identity.list':
      return { identities: identities.list(accountId) };
    case 'identity.unlink':
      await identities.unlink(accountId, request.identityId, by);
      return { unlinked: request.identityId };
  }
}

/** Records the export of an account. Resolves with its id. */
async function noteExport({ actors }: ControlTools, accountId: string, by: Source): Promise<string> {
  await actors.account(accountId).ask((batch) => {
    noteAct(batch, accountId, { atMs: Date.now(), act: 'account_exported', source: by });
  });
  return accountId;
}

/** Sets damaged contents aside. Resolves with the number set aside; contents no longer damaged are not counted. */
async function setAside(tools: ControlTools, damaged: ControlRequestOf<'damage.set_aside'>): Promise<number> {
  let done = 0;
  for (const key of damaged.blobs) if (await setBlobAside(tools, key, Date.now())) done += 1;
  for (const key of damaged.versions) if (await setVersionAside(tools.actors, key, Date.now())) done += 1;
  return done;
}
