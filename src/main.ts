/** Starts and stops the service. Composition root: core → pool → capabilities → HTTP, closed in reverse. */
import './compose/memory-tuning.ts';
import { usedKeySweep } from './actors/once/sweep.ts';
import { noteStart, type StartedWith } from './audit/start.ts';
import type { Lifetime } from './common/lifetime.ts';
import type { Log, LogSink } from './common/log.ts';
import type { Sweep } from './common/sweep.ts';
import { commit, version } from './common/version.ts';
import { openAgents } from './compose/agents.ts';
import { type Core, openCore } from './compose/core.ts';
import { openDocuments } from './compose/documents.ts';
import { openWebhooks } from './compose/events/webhooks.ts';
import { firstStep } from './compose/first-steps.ts';
import { type DoorRoutes, Doors } from './compose/listeners.ts';
import { gateOf, type Ownership, readyOf } from './compose/member/ownership.ts';
import type { RunningService } from './compose/member/running-service.ts';
import { endWithAccounts, fileRoomOf } from './compose/members.ts';
import { openRoutes, type ServiceParts } from './compose/routes.ts';
import { SearchThread } from './compose/search/thread.ts';
import { Sweeper } from './compose/sweeper.ts';
import { thingKinds } from './compose/things.ts';
import type { Config } from './config.ts';
import { AccountEvents } from './events/account-events.ts';
import { documentParser } from './gateway/body/parse-body.ts';
import { ToolTraffic } from './gateway/tool-traffic.ts';
import { Admission } from './http/checks/admission.ts';
import { LoopDelay } from './http/checks/loop-delay.ts';
import { Rates } from './http/checks/rates.ts';
import { Certificate } from './http/library/tls.ts';
import { RequestLog } from './http/measure/request-log.ts';
import { Traffic } from './http/measure/traffic.ts';
import { createAddressResolver } from './http/request/client-address.ts';
import { healthRoutes, type Phase } from './http/route/health.ts';
import type { Mailer } from './mail/mailer.ts';
import { openConditions } from './ops/conditions/open.ts';
import type { ConditionWatch } from './ops/conditions/watch.ts';
import { lastDone } from './ops/marks.ts';
import type { MetricSources } from './ops/metrics/metrics.ts';
import { type MetricsRoutes, metricsRoutes } from './ops/metrics/routes.ts';
import { connectionsThatFit } from './ops/open-files.ts';
import { Pool } from './pool/pool.ts';
import { accountOfVault } from './sync/log/records.ts';
import { openSync, type Sync } from './sync/service.ts';
import { Tasks } from './tasks/service.ts';
import { LivePages } from './web/live-pages.ts';

/**
 * Starts the service: a hub of its own, or a member of several that serves once it owns their log. Throws StartError
 * after releasing the data folder.
 */
export async function startService(config: Config, sink: LogSink): Promise<RunningService> {
  const { log } = config;
  if (log === undefined) return await startHub(config, sink);
  const { runMember } = await import('./ops/member/run.ts');
  return await runMember({ ...config, log }, sink, startHub);
}

/** Starts everything and serves. Throws StartError after releasing the data folder. */
async function startHub(config: Config, sink: LogSink, ownership?: Ownership): Promise<RunningService> {
  const { log, dropped } = sink;
  const clientAddress = createAddressResolver(config.trustedProxies);
  const certificate = config.tls && new Certificate(config.tls);
  const core = await openCore(config, log, { mayMake: true, mayUpgrade: true, ownership });
  core.keep();
  const { life } = core;
  let phase: Phase = 'starting';
  try {
    const pool = life.own('worker threads', new Pool({ threads: config.poolThreads }));
    const mail = await openMail(config, log);
    if (mail !== undefined) life.own('mail', mail);
    const loop = life.own('event loop delay', new LoopDelay());
    const rates = new Rates(config, () => performance.now());
    const [traffic, toolTraffic] = [new Traffic(), new ToolTraffic()];
    const tasks = new Tasks({ ...core, now: Date.now });
    const sync = await openSync({ ...core, pool, log, room: fileRoomOf(core.quotas), now: Date.now });
    const search = openSearch(core, config, log);
    const documents = openDocuments(core, config, (query) => search.containing(query));
    const sweeper = ownBackground(life, { core, sync, tasks, documents }, log);
    const find: ServiceParts['search'] = (query) => search.search(query);
    const shown = { tasks, documents, sync, search: find, ...pageParts(core, config), toolTraffic };
    const agents = openAgents({ core, ...shown });
    const { webhooks, webhookSender } = openWebhooks({ core, config, events: shown.events, mail, log });
    life.own('webhooks', webhookSender);
    const parts: ServiceParts = { config, core, mail, pool, rates, log, ...shown, webhooks, agents };
    const admission = openAdmission(config, loop, log);
    const certificateExpiresMs = () => certificate?.expiresMs;
    const conditions = openConditions({ config, core, mail, log, phase: () => phase, certificateExpiresMs });
    const webhookFigures = () => webhookSender.figures;
    const operation = { ...operationOf(config, certificate, sync, dropped), conditions, webhookFigures };
    const measured = { ...parts, ...core, version, traffic, admission, loop, member: ownership?.figures };
    const metrics = await hubMetrics({ ...operation, ...measured }, config);
    const shared = doorOptions({ config, sink, pool, rates, traffic, clientAddress, ownership });
    const routes = await doorRoutes(parts, conditions, metrics, ownership);
    const doors = Doors.open(config, shared, admission, routes, ownership?.front);
    life.onEnd('running requests', () => doors.drain(config.drainSeconds), config.drainSeconds * 2000);
    // Answers that wait for a change end before the others are waited for.
    life.own('listening agents', agents.listening);
    life.own('open pages', shown.live);
    life.onEnd('waiting pulls', () => sync.reading.stopWaiting());
    life.own('waiting for events', shown.events);
    await noteStart(core.store, startedWith(config), Date.now(), log);
    core.listening.port = doors.port;
    endWithAccounts(core, sync, doors);
    sweeper.start();
    if (ownership !== undefined) life.own('log', ownership.keepLog(core.store));
    phase = 'ready';
    conditions.start();
    webhookSender.start();
    return {
      port: doors.port,
      firstStep: firstStep(core.store, config, doors.port, log),
      metricsPort: doors.metricsPort,
      broken: core.broken,
      renewCertificate: () => certificate?.renew(() => doors.succeed()),
      stop() {
        phase = 'draining';
        return life.end();
      },
    };
  } catch (error) {
    await life.end().catch(() => undefined);
    throw error;
  }
}

/** The metrics of a hub; the library is loaded only when the settings enable them. */
async function hubMetrics(sources: MetricSources, config: Config): Promise<MetricsRoutes> {
  return await metricsRoutes({ ...config, rates: sources.rates }, async () => {
    const { openMetrics } = await import('./ops/metrics/metrics.ts');
    return openMetrics(sources);
  });
}

interface DoorParts extends Pick<ServiceParts, 'config' | 'pool' | 'rates'> {
  readonly sink: LogSink;
  readonly traffic: Traffic;
  readonly clientAddress: ReturnType<typeof createAddressResolver>;
  readonly ownership: Ownership | undefined;
}

/** What both ports have in common. */
function doorOptions({ config, sink: { log, access }, pool, rates, traffic, clientAddress, ownership }: DoorParts) {
  return {
    clientAddress,
    rates,
    traffic,
    requestLog: new RequestLog({ log, access, slowMs: config.slowMs }),
    parseJson: documentParser(pool),
    log,
    ...gateOf(ownership),
  };
}

/** The routes of both ports. */
async function doorRoutes(
  parts: ServiceParts,
  conditions: ConditionWatch,
  metrics: MetricsRoutes,
  ownership: Ownership | undefined,
): Promise<DoorRoutes> {
  const ready = () => readyOf(ownership, () => conditions.ready());
  const probes = healthRoutes({ version, commit, ready, member: ownership?.health });
  return { service: await openRoutes(parts, [...probes, ...metrics.guarded]), metrics: metrics.open };
}

/** Opens the mailer, if a mail server is configured; only then is the library loaded. */
async function openMail({ mail }: Config, log: Log): Promise<Mailer | undefined> {
  if (mail === undefined) return undefined;
  const { Mailer } = await import('./mail/mailer.ts');
  return new Mailer({ ...mail, log });
}

/** The search has a separate thread, which starts with the first search. */
function openSearch(core: Core, config: Config, log: Log): SearchThread {
  const { store, standings, life } = core;
  const search = new SearchThread({ config, store, log, kinds: thingKinds, accountOfVault: accountOfVault(store) });
  standings.onShut((accountId) => search.forget(accountId));
  return life.own('search', search);
}

/** Parts beside the capabilities. */
function pageParts(core: Core, config: Config): Pick<ServiceParts, 'live' | 'lastBackupMs' | 'events'> {
  const lastBackupMs = () => lastDone(config.dataFolder, 'backup')?.at_ms;
  const hash = (text: string) => core.sealer.keyedHash('event-cursor', text);
  const events = new AccountEvents({ ...core, hash });
  return { live: new LivePages(core.store), lastBackupMs, events };
}

/** What the hub's log compares with the start before; of a secret only that it is set. */
function startedWith({ given, givenSecrets }: Config): StartedWith {
  const secrets = Object.fromEntries(givenSecrets.map((name) => [name, 'a secret']));
  return { version, settings: { ...given, ...secrets } };
}

/** Values for metrics other than counters. */
function operationOf(config: Config, certificate: Certificate | undefined, { reading }: Sync, dropped: () => number) {
  return {
    ...config,
    certificateExpiresMs: () => certificate?.expiresMs,
    waitingPulls: () => reading.waitingPulls(),
    droppedLines: dropped,
  };
}

/** The parts with background work, which ends after the last request. */
type Background = Pick<ServiceParts, 'core' | 'sync' | 'tasks' | 'documents'>;

/** Registers the end of all background work: first what the sweeps run, so that a running sweep ends soon. */
function ownBackground(life: Lifetime, parts: Background, log: Log): Sweeper {
  const { core, sync, tasks } = parts;
  life.own('packs and visits of vaults', sync.reading);
  life.own('contents that a crash left', sync.staging);
  const sweeper = life.own('sweeps', new Sweeper(sweepsOf(parts), core.clock, log));
  life.own('clearing of categories', tasks);
  life.own('removal of vaults', sync.removal);
  life.own('removal of accounts', core.removal);
  life.onEnd('retention', () => sync.retention.stop());
  life.own('imports', core.imports);
  return sweeper;
}

function openAdmission(config: Config, loop: LoopDelay, log: Log): Admission {
  return new Admission({
    connectionsMax: connectionsThatFit(config.connectionsMax, log),
    streamsMax: config.streamsMax,
    inflightBytesMax: config.inflightBytesMax,
    loopDelayMsMax: config.loopDelayMsMax,
    loopDelayMs: () => loop.medianMs,
  });
}

/** The periodic clean-ups. */
function sweepsOf({ tasks, core, documents, sync }: Background): readonly Sweep[] {
  return [
    { what: 'tasks', byAge: true, run: () => tasks.emptyBin(tasks.now()) },
    { what: 'security events', byAge: true, run: () => core.audit.sweep() },
    usedKeySweep({ ...core, now: Date.now }),
    { what: 'deleted categories', byAge: true, run: () => tasks.clearCategories() },
    documents.sweep,
    sync.retention.sweep,
    sync.removal.sweep,
    core.removal.sweep,
  ];
}
