/** The composition root: config → folder → store → pool → actors → capabilities → front door, and back in reverse. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { accountTables } from './accounts/records.ts';
import { Accounts } from './accounts/service.ts';
import { ActorRegistry } from './actors/registry.ts';
import type { Config } from './config.ts';
import { runControl } from './control/commands.ts';
import { type ControlAnswer, controlRequest } from './control/protocol.ts';
import { ControlSocket } from './control/socket.ts';
import { Refusal } from './fault.ts';
import { createAgentCheck } from './http/agent.ts';
import { createAuthenticator } from './http/authorization.ts';
import { InflightBudget } from './http/budget.ts';
import { createAddressResolver } from './http/client-address.ts';
import { FrontDoor } from './http/front-door.ts';
import { healthRoutes, type Phase } from './http/health.ts';
import type { Route } from './http/route.ts';
import { checkTlsFiles } from './http/tls.ts';
import type { Log } from './log.ts';
import { MirrorBlobs } from './mirror/blobs.ts';
import { MirrorCredentials } from './mirror/credentials.ts';
import { mirrorTables } from './mirror/records.ts';
import { mirrorRoutes } from './mirror/routes.ts';
import { Staging } from './mirror/staging.ts';
import { BufferPool } from './pool/buffers.ts';
import { Pool } from './pool/pool.ts';
import { StartError } from './start-error.ts';
import { checkMasterKey, metaTables } from './store/key-check.ts';
import { loadMasterKey } from './store/master-key.ts';
import { createSealer, type Sealer } from './store/seal.ts';
import { Store } from './store/store.ts';
import type { AnyTable } from './store/table.ts';
import { version } from './version.ts';

export const allTables: readonly AnyTable[] = [...metaTables, ...accountTables, ...mirrorTables];

/** The service without a socket: what the command line works on when no server has the folder. */
interface Core {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly actors: ActorRegistry;
  readonly accounts: Accounts;
  readonly close: () => Promise<void>;
}

export interface RunningService {
  readonly port: number;
  /** Stops accepting, finishes what runs, flushes, lets go of the folder. */
  readonly stop: () => Promise<void>;
}

/** Opens the data folder for writing; only one process can. Throws StartError. */
export async function openCore(config: Config, log: Log): Promise<Core> {
  makeFolder(config.dataFolder);
  let answer: (line: string) => Promise<string> = () => Promise.resolve(refuse('the service is starting; try again'));
  const control = await ControlSocket.acquire(config.dataFolder, (line) => answer(line));
  try {
    const sealer = createSealer(loadMasterKey(config.dataFolder, config.masterKey));
    const store = new Store({ folder: config.dataFolder, tables: allTables });
    await checkMasterKey(store, sealer);
    const actors = new ActorRegistry(store);
    const accounts = new Accounts({ store, actors, sealer, log, now: Date.now });
    answer = (line) => answerControl(accounts, line, log);
    return {
      store,
      sealer,
      actors,
      accounts,
      async close() {
        await actors.drain();
        await store.close();
        await control.release();
      },
    };
  } catch (error) {
    await control.release();
    throw error;
  }
}

/** Starts everything and serves. Throws StartError, and then has let go of the folder again. */
export async function startService(config: Config, log: Log): Promise<RunningService> {
  const clientAddress = createAddressResolver(config.trustedProxies);
  if (config.tls !== undefined) checkTlsFiles(config.tls);
  const core = await openCore(config, log);
  const pool = new Pool({ threads: config.poolThreads });
  let phase: Phase = 'starting';
  try {
    const door = new FrontDoor({
      routes: [...healthRoutes({ version, phase: () => phase }), ...(await openMirror(config, core, pool, log))],
      isBlockedAgent: createAgentCheck({ blocked: config.blockedAgents, allowMissing: config.allowMissingAgent }),
      clientAddress,
      tls: config.tls,
      bodySeconds: config.bodySeconds,
      handlerSeconds: config.handlerSeconds,
      log,
    });
    const port = door.listen(config.host, config.port);
    phase = 'ready';
    return {
      port,
      async stop() {
        phase = 'draining';
        await door.drain(config.drainSeconds);
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

/** The certificate mirror over an open core; sweeps what a crash left of uploads. */
async function openMirror(config: Config, core: Core, pool: Pool, log: Log): Promise<Route[]> {
  const { store, sealer, actors, accounts } = core;
  const staging = new Staging(store, log);
  const swept = await staging.sweep();
  if (swept > 0) log.info({ uploads: swept }, 'removed what cut-off uploads had staged');
  const credentials = new MirrorCredentials({ store, actors, sealer, now: Date.now });
  const blobs = new MirrorBlobs({
    store,
    actors,
    pool,
    staging,
    credentials,
    buffers: new BufferPool(),
    budget: new InflightBudget(config.inflightBytesMax),
    now: Date.now,
  });
  const scheme = 'McpKey';
  const accountAccess = createAuthenticator({
    scheme,
    credential: 'account key or MCP key',
    find: (key) => accounts.authenticate(key),
  });
  const mirrorAccess = createAuthenticator({
    scheme,
    credential: 'mirror token',
    find: (token) => credentials.authenticate(token),
  });
  return mirrorRoutes({ blobs, credentials, accountAccess, mirrorAccess });
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`CAIRN_DATA must name a folder that this user can write to (${code ?? 'unknown error'}).`);
  }
}

async function answerControl(accounts: Accounts, line: string, log: Log): Promise<string> {
  try {
    const parsed = controlRequest.safeParse(JSON.parse(line));
    if (!parsed.success) return refuse('this cairn command and the running service are of different versions');
    const answer: ControlAnswer = { ok: true, result: await runControl(accounts, parsed.data) };
    return JSON.stringify(answer);
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    log.error({ err: error }, 'a control command broke an assumption');
    return refuse('the command failed; the log of the service says why');
  }
}

function refuse(error: string): string {
  const answer: ControlAnswer = { ok: false, error };
  return JSON.stringify(answer);
}
