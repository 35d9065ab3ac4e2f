/**
 * Opens the service without a socket: the data folder, the store, the actors, the accounts. One process owns it at a
 * time.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { accountTables } from '../accounts/records.ts';
import { signInTables } from '../accounts/sign-in/records.ts';
import { signUpTables } from '../accounts/sign-up/records.ts';
import { standingTables } from '../accounts/standing/records.ts';
import { TimeZones } from '../accounts/time-zones.ts';
import { ActorRegistry } from '../actors/registry.ts';
import { auditTables } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import { StartError } from '../common/start-error.ts';
import { systemReason } from '../common/system-reason.ts';
import type { Config } from '../config.ts';
import { type ControlTools, runControl } from '../control/commands.ts';
import { ImportDoor } from '../control/importer.ts';
import { ToldProgress } from '../control/progress.ts';
import { type ControlAnswer, controlRequest } from '../control/protocol.ts';
import { type ControlCaller, type ControlHandler, ControlSocket } from '../control/socket.ts';
import { devDocTables } from '../documents/dev-docs/records.ts';
import { handoffTables } from '../documents/handoffs/records.ts';
import { paperTables } from '../documents/papers/records.ts';
import { versionTables } from '../documents/records.ts';
import { limits } from '../limits/service.ts';
import { mirrorTables } from '../mirror/records.ts';
import { OAuthClients } from '../oauth/clients/clients.ts';
import { OperatorClients } from '../oauth/clients/operator-clients.ts';
import { AuthorizationCodes } from '../oauth/code/codes.ts';
import { DeviceGrants } from '../oauth/device-grants.ts';
import { Identities } from '../oauth/provider/identities.ts';
import type { IdentityProvider } from '../oauth/provider/identity-provider.ts';
import { oauthTables } from '../oauth/records.ts';
import { SignIns, type SignInsOptions } from '../oauth/sign-ins.ts';
import { usageTables } from '../quotas/usage.ts';
import { Damage } from '../store/data-file/damage.ts';
import { noHub, type PreparedFolder, prepareFolder } from '../store/data-file/folder.ts';
import { makeFolders } from '../store/data-file/make-folders.ts';
import { DATA_FILE } from '../store/data-file/names.ts';
import { freeBytes } from '../store/failure.ts';
import { ClockWatch } from '../store/meta/clock-watch.ts';
import { openEpoch } from '../store/meta/epoch.ts';
import { metaTables } from '../store/meta/meta.ts';
import { putSchema, schemaOf } from '../store/meta/schema.ts';
import { HUB } from '../store/owners.ts';
import { checkMasterKey } from '../store/sealing/key-check.ts';
import { openSealer } from '../store/sealing/own-key.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import { type DiskFailure, Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { syncTables } from '../sync/log/records.ts';
import { taskTables } from '../tasks/records.ts';
import { dropImports } from '../transfer/leftovers.ts';
import { type Members, openMembers } from './members.ts';
import { prepareData } from './prepare.ts';
import { SCHEMA } from './schema/steps.ts';

export const allTables: readonly AnyTable[] = [
  ...metaTables,
  ...accountTables,
  ...signUpTables,
  ...auditTables,
  ...standingTables,
  ...usageTables,
  ...signInTables,
  ...oauthTables,
  ...mirrorTables,
  ...taskTables,
  ...versionTables,
  ...devDocTables,
  ...handoffTables,
  ...paperTables,
  ...syncTables,
];

/** The service without a socket. The command line uses it when no server owns the folder. */
export interface Core extends Members {
  readonly store: Store;
  /** Every table of the data file. */
  readonly tables: readonly AnyTable[];
  /** Identifies the history of the data file; changes after a restore. */
  readonly epoch: string;
  readonly sealer: Sealer;
  /** Decides whether the clock is plausible. */
  readonly clock: ClockWatch;
  /** Records damaged contents. */
  readonly damage: Damage;
  readonly actors: ActorRegistry;
  readonly timeZones: TimeZones;
  /** Pending device sign-ins, and signed-in devices. */
  readonly devices: DeviceGrants;
  readonly signIns: SignIns;
  /** OAuth clients, and their authorization codes. */
  readonly clients: OAuthClients;
  readonly operatorClients: OperatorClients;
  readonly codes: AuthorizationCodes;
  /** Links subjects of the identity provider to accounts. */
  readonly identities: Identities;
  /** Resolves with the system's error when this process can no longer use the data file. A new process can. */
  readonly broken: Promise<unknown>;
  /** The settings that were given, without secrets. */
  readonly given: Config['given'];
  /** Accepts requests for imports. */
  readonly imports: ImportDoor;
  /** Keeps a new hub. Call it before serving any request, or when the command that made it succeeded. */
  readonly keep: () => void;
  /** Removes a new hub that was not kept. */
  readonly close: () => Promise<void>;
}

export interface OpenAs {
  /** True when a folder without a hub becomes a new hub. */
  readonly mayMake: boolean;
  /** True when an older data file is upgraded to the schema of this version. */
  readonly mayUpgrade: boolean;
}

/**
 * Opens the data folder for writing; only one process can.
 * @throws StartError
 */
export async function openCore(config: Config, log: Log, { mayMake, mayUpgrade }: OpenAs): Promise<Core> {
  if (!mayMake && !existsSync(config.dataFolder)) throw noHub(config.dataFolder);
  makeFolder(config.dataFolder);
  let answer: ControlHandler = () => Promise.resolve(refuse('the service is starting; try again'));
  const control = await ControlSocket.acquire(config.dataFolder, (line, caller) => answer(line, caller));
  let hub: PreparedFolder | undefined;
  try {
    hub = prepareFolder(config.dataFolder, mayMake);
    const masterKey = await prepareData({ ...config, mayUpgrade, tables: allTables, log, now: Date.now });
    const { store, broken } = openStore(config, log);
    const sealer = openSealer(store, masterKey);
    await checkMasterKey(store, sealer);
    await numberNew(store);
    const epoch = await openEpoch(store);
    const dropped = await dropImports(store, allTables);
    if (dropped > 0) log.info({ accounts: dropped }, 'removed leftovers of interrupted imports');
    const actors = new ActorRegistry(store);
    const members = openMembers({ store, tables: allTables, actors, sealer, log, now: Date.now }, config);
    const signIns = openSignIns({ store, actors, sealer, log, now: Date.now }, members);
    const devices = new DeviceGrants({ store, actors, sealer, signIns, now: Date.now });
    const codes = new AuthorizationCodes({ actors, signIns, now: Date.now });
    const clients = new OAuthClients({ store, actors, now: Date.now, documents: config.oauthClientDocuments });
    const operatorClients = new OperatorClients({ store, actors, signIns, now: Date.now });
    const provider = await openProvider(config, log);
    const identities = new Identities({ store, actors, sealer, provider, now: Date.now });
    const imports = new ImportDoor();
    const { given } = config;
    const tools = { ...members, store, devices, identities, operatorClients, actors, imports, given };
    answer = (line, caller) => answerControl(tools, line, caller, log);
    return {
      store,
      tables: allTables,
      epoch,
      sealer,
      clock: new ClockWatch({ store, log, now: Date.now, elapsed: () => performance.now() }),
      damage: new Damage(log),
      actors,
      ...members,
      timeZones: new TimeZones({ store, actors, byDefault: config.timeZone }),
      devices,
      signIns,
      clients,
      operatorClients,
      codes,
      identities,
      broken,
      imports,
      given,
      keep: hub.keep,
      async close() {
        await members.removal.close();
        await actors.drain();
        await store.close();
        hub?.drop();
        await control.release();
      },
    };
  } catch (error) {
    hub?.drop();
    await control.release();
    throw error;
  }
}

/** Writes the schema of this version to a new data file; an older one was upgraded before. */
async function numberNew(store: Store): Promise<void> {
  if (schemaOf(store) !== SCHEMA) await store.write(HUB, (batch) => putSchema(batch, SCHEMA));
}

/** Opens the store and logs failures of the disk. */
function openStore({ dataFolder: folder, mapBytes }: Config, log: Log): Pick<Core, 'store' | 'broken'> {
  let giveUp: (cause: unknown) => void = () => undefined;
  const broken = new Promise<unknown>((resolve) => {
    giveUp = resolve;
  });
  const onFailure = ({ cause, isFinal }: DiskFailure) => {
    log.error({ err: cause }, 'a commit failed on the disk and was discarded');
    if (isFinal) giveUp(cause);
  };
  const isNew = !existsSync(join(folder, DATA_FILE));
  if (isNew && freeBytes(folder) < limits.diskFreeBytesMin) {
    const mebibytes = limits.diskFreeBytesMin / 1024 / 1024;
    throw new StartError(
      `the disk of CAIRN_DATA has less than ${mebibytes} MiB free; free some space, then start again.`,
    );
  }
  return { store: new Store({ folder, tables: allTables, mapBytes, onFailure }), broken };
}

/** Opens signed-in devices. Their tokens and keys are created and revoked in the decisions of the sign-ins. */
function openSignIns(base: Omit<SignInsOptions, 'account'>, { accounts, tokens, standings }: Members): SignIns {
  return new SignIns({
    ...base,
    account: {
      isOpen: (accountId) => standings.isOpen(accountId),
      mintToken: (batch, accountId, signInId, { readOnly }) => tokens.add(batch, accountId, signInId, readOnly),
      endTokens: (batch, accountId, signInId) => tokens.endSignIn(batch, accountId, signInId),
      addKey: (batch, accountId, name, source) => accounts.addKey(batch, accountId, name, source).mcp_key,
      checkKeyRoom: (reader, accountId) => accounts.checkKeyRoom(reader, accountId),
    },
  });
}

/** The library for the provider's tokens is loaded only when a provider is configured. */
async function openProvider({ identityProvider: provider }: Config, log: Log): Promise<IdentityProvider | undefined> {
  if (provider === undefined) return undefined;
  const [{ IdentityProvider }, { ProviderKeys }] = await Promise.all([
    import('../oauth/provider/identity-provider.ts'),
    import('../oauth/provider/keys.ts'),
  ]);
  const keys = new ProviderKeys({ issuer: provider.issuer, log, now: Date.now });
  return new IdentityProvider({ ...provider, keys, log, now: Date.now });
}

/** Creates the data folder, for this user only, unless it exists. Throws StartError when it cannot be used. */
export function makeFolder(folder: string): void {
  try {
    makeFolders(folder, 0o700);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(`CAIRN_DATA (${folder}) cannot be written to: ${systemReason(error)}`);
  }
}

async function answerControl(
  tools: ControlTools,
  line: string,
  { tell, signal }: ControlCaller,
  log: Log,
): Promise<string> {
  const progress = new ToldProgress(tell);
  try {
    const parsed = controlRequest.safeParse(JSON.parse(line));
    if (!parsed.success) return refuse('this cairn command and the running service are of different versions');
    const answer: ControlAnswer = {
      ok: true,
      result: await runControl(tools, parsed.data, { tell: progress.note, signal }),
    };
    return JSON.stringify(answer);
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    log.error({ err: error }, 'a control command broke an assumption');
    return refuse('the command failed; the log of the service has the reason');
  } finally {
    progress.close();
  }
}

function refuse(error: string): string {
  const answer: ControlAnswer = { ok: false, error };
  return JSON.stringify(answer);
}
