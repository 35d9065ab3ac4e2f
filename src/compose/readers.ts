/** Opens a thread's read-only routes and tools, over a store written by another thread. */
import { isOpenInRows } from '../accounts/standing/records.ts';
import { TimeZones } from '../accounts/time-zones.ts';
import { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../common/log.ts';
import type { Principal } from '../common/principal.ts';
import { version } from '../common/version.ts';
import type { Config } from '../config.ts';
import { paperRoutes } from '../documents/papers/routes.ts';
import { smallBodies } from '../gateway/body/parse-body.ts';
import { Gateway } from '../gateway/gateway.ts';
import { openKnownResults } from '../gateway/known-results.ts';
import { Listening } from '../gateway/live/listening.ts';
import { Watched } from '../gateway/live/watched.ts';
import { Offers } from '../gateway/offers/offers.ts';
import { ToolRegistry } from '../gateway/registry.ts';
import { gatewayRoutes } from '../gateway/routes.ts';
import type { ToolTraffic } from '../gateway/tool-traffic.ts';
import { createAuthenticator, guarded, type Scheme } from '../http/checks/authorization.ts';
import type { Route } from '../http/route/route.ts';
import { BlobReads } from '../mirror/blob-reads.ts';
import { MirrorCredentials } from '../mirror/credentials.ts';
import { mirrorReadRoutes } from '../mirror/routes.ts';
import { ClockWatch } from '../store/data-file/clock-watch.ts';
import { Damage, type DamagedKind } from '../store/data-file/damage.ts';
import { loadMasterKey } from '../store/sealing/master-key.ts';
import { openSealer } from '../store/sealing/own-key.ts';
import { Store } from '../store/store.ts';
import { openKnownPages } from '../tasks/list/known-pages.ts';
import { taskRoutes } from '../tasks/routes.ts';
import { Tasks } from '../tasks/service.ts';
import { taskTools } from '../tasks/tools.ts';
import { accessTokenScheme, accountKeyScheme, baseUrlOf, mirrorTokenScheme, revisionsOf, statesOf } from './access.ts';
import { allTables } from './core.ts';
import { documentTools, openDocuments } from './documents.ts';
import { openMembers } from './members.ts';

export interface ReadersOptions {
  readonly config: Config;
  /** `Store.sharedRevisions` of the writing thread. */
  readonly revisions: SharedArrayBuffer;
  readonly toolTraffic: ToolTraffic;
  /** Receives the uses of keys to record. */
  readonly onUsed: (accountId: string, keyId: string) => void;
  /** Called when damage is found. */
  readonly onDamage: (kind: DamagedKind) => void;
  readonly log: Log;
}

export interface Readers {
  readonly store: Store;
  readonly routes: readonly Route[];
  /** Names of the tools answered in this thread. */
  readonly tools: ReadonlySet<string>;
}

/** Nothing here writes: the store refuses, and only GET routes and read-only tools of each capability are included. */
export function openReaders({ config, revisions, toolTraffic, onUsed, onDamage, log }: ReadersOptions): Readers {
  const { dataFolder: folder, mapBytes } = config;
  const store = new Store({ folder, tables: allTables, mapBytes, readOnly: true, revisions });
  const sealer = openSealer(store, loadMasterKey(folder, config.masterKey));
  const actors = new ActorRegistry(store);
  const base = { store, tables: allTables, actors, sealer, log, now: Date.now };
  const { accounts, tokens, quotas } = openMembers({ ...base, onUsed }, config);
  const zones = new TimeZones({ ...base, byDefault: config.timeZone });
  const tasks = new Tasks({ ...base, quotas });
  const clock = new ClockWatch({ ...base, elapsed: () => performance.now() });
  const documents = openDocuments({ ...base, quotas, clock }, config);
  const credentials = new MirrorCredentials(base);
  const blobs = new BlobReads({ store, damage: new Damage(log, onDamage) });
  const nameOf = () => {
    throw new Error('only the hub thread records who changes something');
  };
  const tools = [...taskTools(tasks, zones, nameOf), ...documentTools(documents, nameOf)].filter(
    ({ annotations, access }) => annotations.readOnlyHint && access === 'account',
  );
  const registry = new ToolRegistry(tools, toolTraffic);
  const answers = openKnownResults(revisionsOf({ store }));
  // Only calls of read-only tools arrive here; offers and subscriptions are served by the hub thread.
  const offers = new Offers({ resources: [], prompts: [] });
  const listening = new Listening(new Watched([], [], () => undefined));
  const access = (first: Scheme, ...others: readonly Scheme[]) =>
    guarded(createAuthenticator(first, ...others), (accountId) => {
      if (!isOpenInRows(store, accountId)) throw new Error('only the hub thread knows whether an account is open');
    });
  const tokenAccess = access(accessTokenScheme(tokens));
  const resources = [
    ...taskRoutes({ tasks, access: tokenAccess, pages: openKnownPages(revisionsOf({ store })), nameOf }),
    ...paperRoutes({ papers: documents.papers, access: tokenAccess, nameOf }),
    ...mirrorReadRoutes({ blobs, mirrorAccess: access(mirrorTokenScheme(credentials)) }),
  ].filter(({ method }) => method === 'GET');
  // Its GET routes are streams of changes, which only the hub thread hears of.
  const calls = gatewayRoutes({
    gateway: new Gateway({
      registry,
      answers,
      offers,
      listening,
      icon: '',
      states: statesOf({ sealer }),
      version,
      log,
    }),
    answers,
    registry,
    parse: smallBodies,
    access: access(accountKeyScheme(accounts), accessTokenScheme(tokens)),
    baseUrl: baseUrlOf(config),
    metadataUrl: undefined,
  }).filter(({ method }) => method === 'POST');
  return { store, routes: [...resources, ...calls], tools: new Set(tools.map(({ name }) => name)) };
}

/** Returns the principal of a credential, or undefined when it is invalid or only the writing thread can check it. */
export function principalHere({ access }: Route, authorization: string | undefined): Principal | undefined {
  const check = typeof access === 'object' && 'optional' in access ? access.optional : access;
  if (typeof check !== 'function' || authorization === undefined) return undefined;
  try {
    const principal = check(authorization);
    return principal instanceof Promise ? undefined : principal;
  } catch {
    // The writing thread refuses it in the format of the surface, and counts it.
    return undefined;
  }
}
