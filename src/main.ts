/** The composition root: core → pool → capabilities → front door, and back in reverse. */
import type { Config } from './config.ts';
import { openCore } from './core.ts';
import { openDocuments } from './document-parts.ts';
import { createAgentCheck } from './http/agent.ts';
import { InflightBudget } from './http/budget.ts';
import { createAddressResolver } from './http/client-address.ts';
import { FrontDoor } from './http/front-door.ts';
import { healthRoutes, type Phase } from './http/health.ts';
import { ownOrigin } from './http/origin.ts';
import { Rates } from './http/rates.ts';
import { checkTlsFiles } from './http/tls.ts';
import { Traffic } from './http/traffic.ts';
import type { Log } from './log.ts';
import { metricsRoutes } from './ops/metrics-routes.ts';
import { createJsonParser, openRoutes, type Parts } from './parts.ts';
import { Pool } from './pool/pool.ts';
import { startSweeper } from './sweeper.ts';
import { openSync } from './sync/service.ts';
import { Tasks } from './tasks/service.ts';
import { version } from './version.ts';

export interface RunningService {
  readonly port: number;
  /** Where the metrics are served, when they have a port of their own. */
  readonly metricsPort: number | undefined;
  /** Stops accepting, finishes what runs, flushes, lets go of the folder. */
  readonly stop: () => Promise<void>;
}

/** Starts everything and serves. Throws StartError, and then has let go of the folder again. */
export async function startService(config: Config, log: Log): Promise<RunningService> {
  const clientAddress = createAddressResolver(config.trustedProxies);
  if (config.tls !== undefined) checkTlsFiles(config.tls);
  const core = await openCore(config, log);
  const pool = new Pool({ threads: config.poolThreads });
  let phase: Phase = 'starting';
  const doors: FrontDoor[] = [];
  try {
    const rates = new Rates(config, () => performance.now());
    const tasks = new Tasks({ store: core.store, actors: core.actors, now: Date.now });
    const { store, actors, epoch } = core;
    const quotaBytes = config.syncQuotaBytes;
    const sync = await openSync({ store, actors, epoch, pool, log, quotaBytes, now: Date.now });
    const uploads = new InflightBudget(config.inflightBytesMax);
    const documents = openDocuments(core, config);
    const parts: Parts = { config, core, pool, rates, uploads, tasks, documents, sync, log };
    const traffic = new Traffic();
    const metrics = metricsRoutes(config, {
      ...parts,
      ...core,
      version,
      traffic,
      activeRequests: () => activeIn(doors),
    });
    const probes = healthRoutes({ version, phase: () => phase });
    const shared = {
      isBlockedAgent: createAgentCheck({ blocked: config.blockedAgents, allowMissing: config.allowMissingAgent }),
      clientAddress,
      bodySeconds: config.bodySeconds,
      handlerSeconds: config.handlerSeconds,
      origins: { allowed: config.allowedOrigins, isOwn: ownOrigin(config.publicUrl, config.host) },
      rates,
      traffic,
      parseJson: createJsonParser(pool),
      log,
    };
    const routes = await openRoutes(parts, [...probes, ...metrics.guarded]);
    const door = new FrontDoor({ ...shared, routes, tls: config.tls });
    doors.push(door);
    const port = door.listen(config.host, config.port);
    let metricsPort: number | undefined;
    if (config.metricsPort !== undefined) {
      const metricsDoor = new FrontDoor({ ...shared, routes: metrics.open, tls: undefined });
      doors.push(metricsDoor);
      metricsPort = metricsDoor.listen('127.0.0.1', config.metricsPort, 'CAIRN_METRICS_PORT');
    }
    const bin = { what: 'tasks', run: () => tasks.emptyBin(tasks.now()) };
    const sweeper = startSweeper([bin, documents.sweep, sync.retention.sweep], log);
    phase = 'ready';
    return {
      port,
      metricsPort,
      async stop() {
        phase = 'draining';
        // The first is the service; whoever watches it may look on until it has drained.
        for (const each of doors) await each.drain(config.drainSeconds);
        sync.retention.stop();
        await sweeper.close();
        await pool.close();
        await core.close();
      },
    };
  } catch (error) {
    for (const each of doors) await each.drain(0);
    await pool.close();
    await core.close();
    throw error;
  }
}

function activeIn(doors: readonly FrontDoor[]): number {
  return doors.reduce((sum, door) => sum + door.activeRequests, 0);
}
