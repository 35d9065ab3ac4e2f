/** Assembles the parts of the service opened by main.ts: capabilities, their tools, their routes. */
import { accountRoutes } from '../accounts/routes.ts';
import type { SignupRule } from '../accounts/sign-up/sign-ups.ts';
import { onboardingTools, setupText } from '../accounts/tools.ts';
import { zoneTool } from '../accounts/zone-tool.ts';
import { OnceCalls } from '../actors/once/calls.ts';
import { keyedRoutes } from '../actors/once/keyed-routes.ts';
import { agentTools } from '../agents/tools/all.ts';
import type { Log } from '../common/log.ts';
import type { CallerName } from '../common/principal.ts';
import { version } from '../common/version.ts';
import { type Config, isSecure } from '../config.ts';
import { paperRoutes } from '../documents/papers/routes.ts';
import type { AccountEvents } from '../events/account-events.ts';
import { eventRoutes } from '../events/routes.ts';
import { webhookRoutes } from '../events/webhooks/routes.ts';
import { argumentParser, messageParser } from '../gateway/body/parse-body.ts';
import { Gateway } from '../gateway/gateway.ts';
import { openKnownResults } from '../gateway/known-results.ts';
import { openApiRoute } from '../gateway/openapi/document.ts';
import { ToolRegistry } from '../gateway/registry.ts';
import { GATEWAY_PATHS, gatewayRoutes, SIGN_IN_DOOR } from '../gateway/routes.ts';
import { inSet } from '../gateway/tool.ts';
import type { ToolTraffic } from '../gateway/tool-traffic.ts';
import { createAuthenticator, guarded, type Scheme } from '../http/checks/authorization.ts';
import type { Rates } from '../http/checks/rates.ts';
import { BufferPool } from '../http/request/buffers.ts';
import type { Route } from '../http/route/route.ts';
import { Things } from '../ids/things.ts';
import { limits } from '../limits/service.ts';
import type { Mail } from '../mail/mailer.ts';
import type { BlobReads } from '../mirror/blob-reads.ts';
import { MirrorBlobs } from '../mirror/blobs.ts';
import { MirrorCredentials } from '../mirror/credentials.ts';
import { Drills } from '../mirror/drills.ts';
import { Removals } from '../mirror/removal/removals.ts';
import { type MirrorRoutesOptions, mirrorRoutes } from '../mirror/routes.ts';
import { backupLines, backupTools } from '../mirror/tools.ts';
import { Staging } from '../mirror/upload/staging.ts';
import { Uploaders } from '../mirror/uploaders.ts';
import { RESOURCE_PATH } from '../oauth/metadata.ts';
import type { Pool } from '../pool/pool.ts';
import type { Find } from '../search/found.ts';
import { foundRoutes } from '../search/routes.ts';
import { searchTools } from '../search/tools.ts';
import { syncRoutes } from '../sync/routes.ts';
import type { Sync } from '../sync/service.ts';
import { syncTools } from '../sync/tools/all.ts';
import { openKnownPages } from '../tasks/list/known-pages.ts';
import { taskRoutes } from '../tasks/routes.ts';
import type { Tasks } from '../tasks/service.ts';
import { taskTools } from '../tasks/tools.ts';
import { openImporter } from '../transfer/open.ts';
import type { LivePages } from '../web/live-pages.ts';
import { webRoutes } from '../web/routes.ts';
import {
  accessTokenScheme,
  accountKeyScheme,
  baseUrlOf,
  callerNames,
  drillScheme,
  mirrorTokenScheme,
  revisionsOf,
  statesOf,
} from './access.ts';
import type { Agents } from './agents.ts';
import type { Core } from './core.ts';
import { type Documents, documentTools } from './documents.ts';
import type { WebhookParts } from './events/webhooks.ts';
import { Exports } from './exports/exports.ts';
import { bearerScheme, openOAuth } from './oauth.ts';
import { openSignIn, type SignInParts } from './sign-in.ts';
import { thingKinds } from './things.ts';

/** Dependencies of the parts of the service. */
export interface ServiceParts extends Pick<WebhookParts, 'webhooks'> {
  readonly config: Config;
  readonly core: Core;
  readonly pool: Pool;
  readonly rates: Rates;
  readonly tasks: Tasks;
  readonly documents: Documents;
  readonly sync: Sync;
  readonly agents: Agents;
  readonly toolTraffic: ToolTraffic;
  readonly mail: Mail | undefined;
  readonly live: LivePages;
  readonly lastBackupMs: () => number | undefined;
  readonly search: Find;
  readonly events: AccountEvents;
  readonly log: Log;
}

/** Returns every route, including the probes, and the OpenAPI document describing them. */
export async function openRoutes(parts: ServiceParts, probes: readonly Route[]): Promise<Route[]> {
  const signIn = openSignIn({ ...parts, rule: signupRule(parts.config.signup) });
  const nameOf = callerNames(parts.core);
  const { staging, ...mirror } = await openMirror(parts);
  const things = new Things(parts.core.store, thingKinds);
  const registry = openTools(parts, { ...signIn, things }, nameOf, mirror.blobs);
  parts.core.imports.open(openImporter(parts, { staging, credentials: mirror.credentials }));
  const access = authenticatorOf(parts.core, accessTokenScheme(parts.core.tokens));
  const once = new OnceCalls({ ...parts.core, now: Date.now });
  const operations = [
    ...openAccount(parts.core, signIn),
    ...mirrorRoutes(mirror),
    ...taskRoutes({
      tasks: parts.tasks,
      access,
      pages: openKnownPages(revisionsOf(parts.core)),
      nameOf,
    }),
    ...paperRoutes({ papers: parts.documents.papers, access, nameOf }),
    ...syncRoutes({ sync: parts.sync, access: gatewayAccess(parts.core) }),
    ...foundRoutes({ things, find: parts.search, access: gatewayAccess(parts.core), baseUrl: baseUrlOf(parts.config) }),
    ...eventRoutes({
      events: parts.events,
      access: gatewayAccess(parts.core),
      zones: parts.core.timeZones,
      now: Date.now,
    }),
    ...webhookRoutes({ webhooks: parts.webhooks, access: gatewayAccess(parts.core) }),
  ];
  const routes = [
    ...probes,
    ...openPages(parts, { ...mirror, ...signIn }),
    ...openOAuth({ parts, baseUrl: baseUrlOf(parts.config) }),
    ...keyedRoutes(operations, once),
    ...openGateway(parts, registry, once),
  ];
  const { publicUrl } = parts.config;
  return [...routes, openApiRoute({ routes, version, serverUrl: publicUrl ?? '/' })];
}

/** Opens the certificate mirror and removes leftovers of uploads interrupted by a crash. */
async function openMirror({
  core,
  pool,
  log,
}: ServiceParts): Promise<MirrorRoutesOptions & { readonly staging: Staging }> {
  const { store, sealer, actors, accounts, damage } = core;
  const staging = new Staging(store, log);
  const swept = await staging.sweep();
  if (swept > 0) log.info({ uploads: swept }, 'removed bytes staged by interrupted uploads');
  const credentials = new MirrorCredentials({ store, actors, sealer, now: Date.now });
  const blobs = new MirrorBlobs({
    store,
    actors,
    pool,
    staging,
    credentials,
    buffers: new BufferPool(limits.chunkBytes),
    smallBuffers: new BufferPool(limits.wholeUploadBytesMax),
    damage,
    quotas: core.quotas,
    now: Date.now,
  });
  const accountAccess = authenticatorOf(core, accountKeyScheme(accounts));
  const mirrorAccess = authenticatorOf(core, mirrorTokenScheme(credentials));
  const uploadAccess = authenticatorOf(core, mirrorTokenScheme(credentials, 'upload'));
  const downloadAccess = authenticatorOf(core, mirrorTokenScheme(credentials, 'download'));
  const drillAccess = authenticatorOf(core, drillScheme(credentials, accounts));
  const uploaders = new Uploaders({ store, actors, sealer, now: Date.now });
  const drills = new Drills({ store, actors, now: Date.now });
  const removals = new Removals({ actors, staging, bytes: blobs.bytes, now: Date.now });
  const access = { accountAccess, mirrorAccess, uploadAccess, downloadAccess, drillAccess };
  return { blobs, credentials, uploaders, drills, removals, ...access, staging };
}

/** Tools of capabilities that serve models as they are. */
const ALSO_FOR_MODELS: ReadonlySet<string> = new Set(['search', 'fetch', 'list_tasks', 'handoff_save']);

/** Returns the tools, in listing order. */
function openTools(
  { config, core, tasks, documents, sync, search, events, toolTraffic }: ServiceParts,
  { onboarding, things }: SignInParts & { readonly things: Things },
  nameOf: CallerName,
  archives: BlobReads,
): ToolRegistry {
  const shelves = { things, tasks, ...documents, sync, nameOf, find: search, events, activity: core.activity };
  return new ToolRegistry(
    [
      ...inSet('tasks', taskTools(tasks, core.timeZones, nameOf)),
      ...inSet('account', [zoneTool(core.timeZones, Date.now)]),
      ...inSet('documents', documentTools(documents, nameOf)),
      ...inSet('vaults', syncTools(sync, nameOf)),
      ...inSet('backups', backupTools(archives)),
      ...inSet('account', onboardingTools(onboarding, config.oauthMetadata)),
      ...inSet('models', searchTools(things, search)),
      ...inSet(
        'models',
        agentTools(shelves, {
          zones: core.timeZones,
          reports: { backups: (accountId) => backupLines(archives, accountId) },
          setupText: (client, baseUrl) => setupText({ baseUrl, offersSignIn: config.oauthMetadata }, client),
          now: Date.now,
        }),
      ),
    ].map((tool) =>
      ALSO_FOR_MODELS.has(tool.name) ? { ...tool, sets: [...(tool.sets ?? []), 'models' as const] } : tool,
    ),
    toolTraffic,
  );
}

/** Serves the tools over JSON-RPC and their REST mirror. */
function openGateway(parts: ServiceParts, registry: ToolRegistry, once: OnceCalls): Route[] {
  const { config, core, pool, log } = parts;
  const answers = openKnownResults(revisionsOf(core));
  return gatewayRoutes({
    gateway: new Gateway({ registry, answers, once, ...parts.agents, states: statesOf(core), version, log }),
    answers,
    once,
    registry,
    parse: {
      messages: messageParser(pool, registry.contentTools),
      args: argumentParser(pool, registry.contentTools),
    },
    access: gatewayAccess(core),
    baseUrl: baseUrlOf(config),
    metadataUrl: config.oauthMetadata ? (host) => baseUrlOf(config)(host) + RESOURCE_PATH + SIGN_IN_DOOR : undefined,
  });
}

/** Whoever may call tools: with a key of the account, or a token for the hub. */
function gatewayAccess(core: Core) {
  return authenticatorOf(core, accountKeyScheme(core.accounts), bearerScheme(core));
}

/** Opens the pages over the capabilities that they show. */
function openPages(
  { config, core, pool, tasks, sync, documents, live, lastBackupMs, search, webhooks }: ServiceParts,
  {
    blobs,
    credentials,
    uploaders,
    ...signIn
  }: SignInParts & Pick<MirrorRoutesOptions, 'blobs' | 'credentials' | 'uploaders'>,
): Route[] {
  return webRoutes({
    ...core,
    ...signIn,
    blobs,
    credentials,
    uploaders,
    tasks,
    sync,
    webhooks,
    ...documents,
    live,
    pool,
    lastBackupMs,
    find: search,
    exports: new Exports({ config, actors: core.actors, now: Date.now }),
    signup: signupRule(config.signup).kind,
    passwordBytesMin: config.passwordBytesMin,
    secure: isSecure(config),
    publicUrl: config.publicUrl,
    baseUrl: baseUrlOf(config),
    resources: GATEWAY_PATHS,
    offersSignIn: config.oauthMetadata,
    keyedHash: (purpose, value) => core.sealer.keyedHash(purpose, value),
    now: Date.now,
  });
}

/** Serves the account itself, with one of its keys or tokens. */
function openAccount(core: Core, { leaving }: SignInParts): Route[] {
  const { accounts, timeZones, tokens } = core;
  return accountRoutes({
    accounts,
    leaving,
    timeZones,
    access: authenticatorOf(core, accountKeyScheme(accounts), accessTokenScheme(tokens)),
  });
}

/** Creates the check of a surface: a credential of an account that is neither disabled nor deleted. */
function authenticatorOf({ standings }: Core, first: Scheme, ...others: readonly Scheme[]) {
  return guarded(createAuthenticator(first, ...others), (accountId) => standings.check(accountId));
}

function signupRule(setting: readonly string[]): SignupRule {
  const [only] = setting;
  if (only === 'open' || only === 'invite' || only === 'closed') return { kind: only };
  return { kind: 'domains', domains: setting };
}
