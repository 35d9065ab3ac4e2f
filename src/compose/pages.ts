/** Opens the pages over the capabilities: gives each what it shows, in the form that it asks for. */
import type { Logins } from '../accounts/logins.ts';
import type { Onboarding } from '../accounts/onboarding.ts';
import { setupSteps } from '../accounts/setup-guide.ts';
import type { Config } from '../config.ts';
import type { Route } from '../http/route/route.ts';
import { type MirrorRoutesOptions, mirrorDownload } from '../mirror/routes.ts';
import type { Pool } from '../pool/pool.ts';
import type { Sync } from '../sync/service.ts';
import type { Tasks } from '../tasks/service.ts';
import { webRoutes } from '../web/routes.ts';
import type { Core } from './core.ts';
import { vaultService } from './vaults.ts';

export interface PagesInput {
  readonly parts: {
    readonly config: Config;
    readonly core: Core;
    readonly pool: Pool;
    readonly tasks: Tasks;
    readonly sync: Sync;
  };
  readonly mirror: Pick<MirrorRoutesOptions, 'blobs' | 'credentials'>;
  readonly logins: Logins;
  readonly onboarding: Onboarding;
  /** This service as a request addressed it. */
  readonly baseUrl: (host: string) => string;
}

export function openPages({
  parts: { config, core, pool, tasks, sync },
  mirror,
  logins,
  onboarding,
  baseUrl,
}: PagesInput): Route[] {
  const { publicUrl, tls, signup } = config;
  const { blobs, credentials } = mirror;
  const [only] = signup;
  return webRoutes({
    accounts: core.accounts,
    sessions: core.sessions,
    logins,
    signUps: onboarding,
    tasks,
    vaults: vaultService({ sync, pool }),
    devices: core.devices,
    signIns: core.signIns,
    tokens: core.tokens,
    identities: core.identities,
    mirror: {
      credential: (accountId) => credentials.current(accountId),
      issue: (accountId, rotate) => credentials.issue(accountId, rotate),
      destroy: (accountId) => credentials.destroy(accountId),
      list: (accountId, page) => blobs.list(accountId, page),
      download: (request, session) => mirrorDownload(blobs, request, session),
    },
    setupSteps: (baseUrl) => setupSteps(baseUrl),
    signup: only === 'open' || only === 'closed' ? only : 'domains',
    secure: tls !== undefined || publicUrl?.startsWith('https:') === true,
    publicUrl,
    baseUrl,
    keyedHash: (purpose, value) => core.sealer.keyedHash(purpose, value),
    now: Date.now,
  });
}
