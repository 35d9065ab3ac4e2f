/** The composition root: core → pool → capabilities → front door, and back in reverse. */
import type { Config } from './config.ts';
import { openCore } from './core.ts';
import { createAgentCheck } from './http/agent.ts';
import { createAddressResolver } from './http/client-address.ts';
import { FrontDoor } from './http/front-door.ts';
import { healthRoutes, type Phase } from './http/health.ts';
import { Rates } from './http/rates.ts';
import { checkTlsFiles } from './http/tls.ts';
import type { Log } from './log.ts';
import { createJsonParser, openRoutes, type Parts } from './parts.ts';
import { Pool } from './pool/pool.ts';
import { openSync } from './sync/service.ts';
import { startBinSweeper } from './tasks/bin.ts';
import { Tasks } from './tasks/service.ts';
import { version } from './version.ts';

export interface RunningService {
  readonly port: number;
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
  try {
    const rates = new Rates(config, () => performance.now());
    const tasks = new Tasks({ store: core.store, actors: core.actors, now: Date.now });
    const { store, actors, epoch } = core;
    const quotaBytes = config.syncQuotaBytes;
    const sync = await openSync({ store, actors, epoch, pool, log, quotaBytes, now: Date.now });
    const parts: Parts = { config, core, pool, rates, tasks, sync, log };
    const door = new FrontDoor({
      routes: await openRoutes(parts, healthRoutes({ version, phase: () => phase })),
      isBlockedAgent: createAgentCheck({ blocked: config.blockedAgents, allowMissing: config.allowMissingAgent }),
      clientAddress,
      tls: config.tls,
      bodySeconds: config.bodySeconds,
      handlerSeconds: config.handlerSeconds,
      origins: { allowed: config.allowedOrigins },
      rates,
      parseJson: createJsonParser(pool),
      log,
    });
    const port = door.listen(config.host, config.port);
    const sweeper = startBinSweeper(tasks, log);
    phase = 'ready';
    return {
      port,
      async stop() {
        phase = 'draining';
        await door.drain(config.drainSeconds);
        await sweeper.close();
        await pool.close();
        await core.close();
      },
    };
  } catch (error) {
    await pool.close();
    await core.close();
    throw error;
  }
}
