/** Starts and stops the service. Composition root: core → pool → capabilities → HTTP, stopped in reverse. */
import './compose/memory-tuning.ts';
import type { Log, LogSink } from './common/log.ts';
import type { Sweep } from './common/sweep.ts';
import { version } from './common/version.ts';
import { openAgents } from './compose/agents.ts';
import { type Core, openCore } from './compose/core.ts';
import { openDocuments } from './compose/documents.ts';
import { firstStep } from './compose/first-steps.ts';
import { Doors } from './compose/listeners.ts';
import { endWithAccounts, fileRoomOf } from './compose/members.ts';
import { openRoutes, type ServiceParts } from './compose/routes.ts';
import { startSweeper } from './compose/sweeper.ts';
import type { Config } from './config.ts';
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
import { lastDone } from './ops/marks.ts';
import { metricsRoutes } from './ops/metrics/routes.ts';
import { connectionsThatFit } from './ops/open-files.ts';
import { Pool } from './pool/pool.ts';
import { openSync, type Sync } from './sync/service.ts';
import { Tasks } from './tasks/service.ts';
import { LivePages } from './web/live/live.ts';

export interface RunningService {
  readonly port: number;
  /** Instructions for creating the first account; undefined: one exists. */
  readonly firstStep: string | undefined;
  /** Port of the metrics, when they have a separate one. */
  readonly metricsPort: number | undefined;
  /** Resolves with the cause when the data file has become unusable. End the process then: `stop` may never resolve. */
  readonly broken: Promise<unknown>;
  /**
   * Uses the certificate that the TLS files have now, for new connections. Returns false when it is the same as before,
   * and undefined without TLS. Throws StartError when it cannot be used; then the one before is kept.
   */
  readonly renewCertificate: () => boolean | undefined;
  /** Stops accepting connections, finishes running requests, flushes, and releases the data folder. */
  readonly stop: () => Promise<void>;
}

/** Starts everything and serves. Throws StartError after releasing the data folder. */
export async function startService(config: Config, sink: LogSink): Promise<RunningService> {
  const { log, access, dropped } = sink;
  const clientAddress = createAddressResolver(config.trustedProxies);
  const certificate = config.tls && new Certificate(config.tls);
  const core = await openCore(config, log, { mayMake: true, mayUpgrade: true });
  core.keep();
  const pool = new Pool({ threads: config.poolThreads });
  const mail = await openMail(config, log);
  const loop = new LoopDelay();
  let phase: Phase = 'starting';
  const close = async () => {
    loop.close();
    await mail?.close();
    await pool.close();
    await core.close();
  };
  try {
    const rates = new Rates(config, () => performance.now());
    const [traffic, toolTraffic] = [new Traffic(), new ToolTraffic()];
    const tasks = new Tasks({ ...core, now: Date.now });
    const sync = await openSync({ ...core, pool, log, room: fileRoomOf(core.quotas), now: Date.now });
    const documents = openDocuments(core, config);
    const shown = { tasks, documents, sync, ...pageParts(core, config), toolTraffic };
    const agents = openAgents({ core, ...shown });
    const parts: ServiceParts = { config, core, mail, pool, rates, log, ...shown, agents };
    const admission = openAdmission(config, loop, log);
    const operation = operationOf(config, certificate, sync, dropped);
    const metrics = await metricsRoutes(config, { ...operation, ...parts, ...core, version, traffic, admission, loop });
    const requestLog = new RequestLog({ log, access, slowMs: config.slowMs });
    const shared = { clientAddress, rates, traffic, requestLog, parseJson: documentParser(pool), log };
    const doors = Doors.open(config, shared, admission, {
      service: await openRoutes(parts, [...healthRoutes({ version, phase: () => phase }), ...metrics.guarded]),
      metrics: metrics.open,
    });
    endWithAccounts(core, sync, doors);
    const sweeper = startSweeper(sweepsOf(parts), core.clock, log);
    phase = 'ready';
    return {
      port: doors.port,
      firstStep: firstStep(core.store, config, doors.port, log),
      metricsPort: doors.metricsPort,
      broken: core.broken,
      renewCertificate: () => certificate?.renew(() => doors.succeed()),
      async stop() {
        phase = 'draining';
        stopWaiting(parts);
        await doors.drain(config.drainSeconds);
        await closeCapabilities({ core, sync, tasks, sweeper });
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the mailer, if a mail server is configured; only then is the library loaded. */
async function openMail({ mail }: Config, log: Log): Promise<Mailer | undefined> {
  if (mail === undefined) return undefined;
  const { Mailer } = await import('./mail/mailer.ts');
  return new Mailer({ ...mail, log });
}

/** Parts used only by the web pages. */
function pageParts({ store }: Core, { dataFolder }: Config): Pick<ServiceParts, 'live' | 'lastBackupMs'> {
  return { live: new LivePages(store), lastBackupMs: () => lastDone(dataFolder, 'backup')?.at_ms };
}

/** Ends the responses waiting for changes. */
function stopWaiting({ sync, live, agents }: ServiceParts): void {
  sync.reading.stopWaiting();
  live.close();
  agents.listening.close();
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

interface Closing {
  readonly core: Core;
  readonly sync: Sync;
  readonly tasks: Tasks;
  readonly sweeper: ReturnType<typeof startSweeper>;
}

/** Stops background work, after the last request. */
async function closeCapabilities({ core, sync, tasks, sweeper }: Closing): Promise<void> {
  await core.imports.close();
  sync.retention.stop();
  await core.removal.close();
  await sync.removal.close();
  await tasks.close();
  await sweeper.close();
  await sync.reading.close();
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
function sweepsOf({ tasks, core, documents, sync }: ServiceParts): readonly Sweep[] {
  return [
    { what: 'tasks', byAge: true, run: () => tasks.emptyBin(tasks.now()) },
    { what: 'security events', byAge: true, run: () => core.audit.sweep() },
    { what: 'deleted categories', byAge: false, run: () => tasks.clearCategories() },
    documents.sweep,
    sync.retention.sweep,
    sync.removal.sweep,
    core.removal.sweep,
  ];
}
