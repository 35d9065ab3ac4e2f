/** Lists the routes of all pages, built from the capabilities. */

import type { BrowserMarks } from '../accounts/sign-in/browser-mark.ts';
import type { SignupRule } from '../accounts/sign-up/sign-ups.ts';
import { Shares } from '../common/shares.ts';
import type { MemberTools } from '../http/route/health.ts';
import type { Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { Pool } from '../pool/pool.ts';
import type { Find } from '../search/found.ts';
import { activityRoutes } from './activity/routes.tsx';
import { openAssets } from './assets.ts';
import { boardRoutes } from './board/routes.tsx';
import type { Capabilities } from './capabilities.ts';
import { clientFileRoute } from './client-file.ts';
import { seeOther } from './document.tsx';
import { documentRoutes } from './documents/routes.tsx';
import { noPage } from './fault-page.tsx';
import { Drafts } from './forms/drafts.ts';
import { OwnForms } from './forms/own-forms.ts';
import { helpRoutes } from './help/routes.tsx';
import { homeRoutes } from './home/page.tsx';
import type { LivePages } from './live-pages.ts';
import { mirrorPages } from './mirror/page.tsx';
import { Notices } from './notices.ts';
import { operatorRoutes } from './operator/routes.ts';
import { Pages } from './pages.ts';
import { Renderer } from './rendering/renderer.tsx';
import { searchRoutes } from './search/page.tsx';
import { type AccountExports, exportRoute } from './settings/export.tsx';
import { settingsRoutes } from './settings/routes.ts';
import { secondFactorRoutes } from './settings/second-factor.tsx';
import { authorizeRoutes } from './sign-in/authorize.tsx';
import { confirmRoutes } from './sign-in/confirm.tsx';
import { deviceRoutes } from './sign-in/device.tsx';
import { draftRoute } from './sign-in/draft-page.tsx';
import { forgotRoutes } from './sign-in/forgot.tsx';
import { PendingSignIns } from './sign-in/pending.ts';
import { secondStepRoutes } from './sign-in/second-step.tsx';
import { signInRoutes } from './sign-in/sign-in.tsx';
import { vaultRoutes } from './vaults/routes.tsx';
import { ZoneFormats } from './zone-format.ts';

export interface WebOptions extends Capabilities {
  readonly signup: SignupRule['kind'];
  /** The least number of bytes of a new password. */
  readonly passwordBytesMin: number;
  readonly pool: Pool;
  /** True when browsers use TLS, provided by this service or by a proxy in front. */
  readonly secure: boolean;
  /** The public address, if set by the operator. */
  readonly publicUrl: string | undefined;
  /** The base URL of this service, as addressed by the request. */
  readonly baseUrl: (host: string) => string;
  /** MCP clients can sign in through a browser. */
  readonly offersSignIn: boolean;
  /** Paths of the resources that OAuth tokens are for. */
  readonly resources: readonly string[];
  /** The index of everything in an account. */
  readonly find: Find;
  /** A keyed hash under the master key. */
  readonly keyedHash: (purpose: string, value: string) => string;
  readonly live: LivePages;
  /** When the hub was last backed up, in milliseconds; undefined: never, or unknown. */
  readonly lastBackupMs: () => number | undefined;
  readonly exports: AccountExports;
  /** Recognizes browsers that have signed in before. */
  readonly marks: BrowserMarks;
  /** Undefined: this hub shares no log with others. */
  readonly member: MemberTools | undefined;
  readonly now: () => number;
}

export function webRoutes(options: WebOptions): Route[] {
  const { accounts, sessions, standings, secure, publicUrl, baseUrl, keyedHash, live, now } = options;
  const assets = openAssets();
  const drafts = new Drafts(now);
  const isOwnOrigin = ownOrigins(publicUrl);
  const pages = new Pages({
    baseUrl,
    sessions,
    emailOf: (accountId) => accounts.describe(accountId).email,
    isOpen: (accountId) => standings.isOpen(accountId),
    isDisabled: (accountId) => standings.isDisabled(accountId),
    isOperator: (accountId) => standings.isOperator(accountId),
    mustSetUp: (accountId) => options.secondFactors.mustSetUp(accountId),
    assets: assets.paths,
    notices: new Notices(now),
    zones: new ZoneFormats(),
    markOf: (accountId) => live.markOf(accountId),
    secure,
    marks: options.marks,
    isOwnOrigin,
    forms: new OwnForms({ drafts, isOwnOrigin, keyedHash }),
    keyedHash,
  });
  const downloads = new Shares({
    max: limits.pageDownloadBytesMax,
    what: 'too many files are being downloaded from pages',
    retryAfterSeconds: limits.retryAfterSeconds,
  });
  const pending = new PendingSignIns(now);
  const over = { ...options, pages, downloads, renderer: new Renderer(options.pool) };
  return withFormPages(pages, [
    assets.route,
    clientFileRoute(),
    draftRoute(pages, drafts),
    pages.open('*', () => {
      throw noPage();
    }),
    live.route(pages, ({ accountId, browserId }) => standings.isOpen(accountId) && sessions.isLive(browserId)),
    ...homeRoutes(over),
    ...helpRoutes(over),
    ...signInRoutes({ ...over, pending }),
    ...secondStepRoutes({ ...over, pending }),
    ...confirmRoutes(over),
    ...forgotRoutes(over),
    ...secondFactorRoutes(over),
    ...settingsRoutes(over),
    exportRoute(over),
    ...deviceRoutes(over),
    ...authorizeRoutes(over),
    ...boardRoutes(over),
    ...searchRoutes(over),
    ...vaultRoutes(over),
    ...documentRoutes(over),
    ...activityRoutes(over),
    ...mirrorPages(over),
    ...operatorRoutes(over),
  ]);
}

/** Who opens the address of a form, such as a browser that restores its tabs, gets the page that the form is on. */
function withFormPages(pages: Pages, routes: readonly Route[]): Route[] {
  const shown = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const forms = routes.filter(({ method, path }) => method === 'POST' && !shown.has(path));
  const pageOf = (path: string): number => {
    const parts = path.split('/');
    while (parts.length > 1 && !shown.has(parts.join('/'))) parts.pop();
    return parts.length;
  };
  const redirects = forms.map(({ path }) =>
    pages.open(path, ({ request }) => seeOther(request.path.split('/').slice(0, pageOf(path)).join('/') || '/')),
  );
  return [...routes, ...redirects];
}

/**
 * Accepts the origin of the addressed host, whatever its name, and of the public address. The gateway accepts fewer
 * names, because an attacker can point a name at this host. Here that is harmless: the browser has no cookie of this
 * host to send to that name.
 */
function ownOrigins(publicUrl: string | undefined): (origin: string, host: string) => boolean {
  const named = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return (origin, host) => origin === named || origin === `http://${host}` || origin === `https://${host}`;
}
