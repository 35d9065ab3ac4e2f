/**
 * Opens the service without a socket: the data folder, the store, the actors, the accounts. One process owns it at a
 * time.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { TimeZones } from '../accounts/time-zones.ts';
import { ActorRegistry } from '../actors/registry.ts';
import { Lifetime } from '../common/lifetime.ts';
import type { Log } from '../common/log.ts';
import { StartError } from '../common/start-error.ts';
import { systemReason } from '../common/system-reason.ts';
import type { Config } from '../config.ts';
import { ImportDoor } from '../control/importer.ts';
import { type ControlHandler, ControlSocket } from '../control/socket.ts';
import type { MemberTools, Readiness } from '../http/route/health.ts';
import { limits } from '../limits/service.ts';
import { Damage } from '../store/data-file/damage.ts';
import { noHub, prepareFolder, refuseHalfRestored } from '../store/data-file/folder.ts';
import { makeFolders } from '../store/data-file/make-folders.ts';
import { DATA_FILE } from '../store/data-file/names.ts';
import { freeBytes } from '../store/failure.ts';
import { ClockWatch } from '../store/meta/clock-watch.ts';
import { openEpoch } from '../store/meta/epoch.ts';
import { damagedSchemaRows, putSchema, schemaOf } from '../store/meta/schema.ts';
import { HUB } from '../store/owners.ts';
import { type DamagedRow, keyText } from '../store/row-sums.ts';
import { checkMasterKey } from '../store/sealing/key-check.ts';
import { keepHashKey, openSealer } from '../store/sealing/own-key.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import { type DiskFailure, Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { dropImports } from '../transfer/leftovers.ts';
import { answerControl, refuseControl } from './control-answers.ts';
import { type DeviceAccess, openDeviceAccess } from './device-access.ts';
import { checkLog, NOT_RUNNING } from './member/log-check.ts';
import type { Ownership } from './member/ownership.ts';
import { type Members, openMembers } from './members.ts';
import { ownAddress } from './own-address.ts';
import { prepareData } from './prepare.ts';
import { SCHEMA } from './schema/steps.ts';
import { allTables } from './tables.ts';

/** The service without a socket. The command line uses it when no server owns the folder. */
export interface Core extends Members, DeviceAccess {
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
  /** Resolves with the system's error when this process can no longer use the data file. A new process can. */
  readonly broken: Promise<unknown>;
  /** Of a member that owns the log of a hub with several; undefined: this hub has no log. */
  readonly member: MemberTools | undefined;
  /** The settings that were given, without secrets. */
  readonly given: Config['given'];
  /** The address of the hub for its users. */
  readonly address: () => string;
  readonly mail: Config['mail'];
  /** The port of that address: the one of the settings, until the service listens on another. And whether it is ready. */
  readonly listening: { port: number; ready: () => Promise<Readiness> };
  /** Accepts requests for imports. */
  readonly imports: ImportDoor;
  /** Keeps a new hub. Call it before serving any request, or when the command that made it succeeded. */
  readonly keep: () => void;
  /** Closes the core, and whatever registers here after it. Removes a new hub that was not kept. */
  readonly life: Lifetime;
}

export interface OpenAs {
  /** True when a folder without a hub becomes a new hub. */
  readonly mayMake: boolean;
  /** True when an older data file is upgraded to the schema of this version. */
  readonly mayUpgrade: boolean;
  /** Of a member that owns the log; undefined: the folder must belong to no log. */
  readonly ownership?: Ownership | undefined;
}

/**
 * Opens the data folder for writing; only one process can.
 * @throws StartError
 */
export async function openCore(config: Config, log: Log, { mayMake, mayUpgrade, ownership }: OpenAs): Promise<Core> {
  if (config.log !== undefined && ownership === undefined) throw new StartError(NOT_RUNNING);
  if (!mayMake && !existsSync(config.dataFolder)) throw noHub(config.dataFolder);
  makeFolder(config.dataFolder);
  let answer: ControlHandler = () => Promise.resolve(refuseControl('the service is starting; try again'));
  const life = new Lifetime(log);
  const control = await ControlSocket.acquire(config.dataFolder, (line, caller) => answer(line, caller));
  life.onEnd('control socket', () => control.release());
  try {
    refuseHalfRestored(config.dataFolder);
    const hub = prepareFolder(config.dataFolder, mayMake);
    life.onEnd('data folder', () => hub.drop());
    await checkLog(config, ownership);
    const { recordLog } = ownership ?? {};
    const masterKey = await prepareData({ ...config, mayUpgrade, tables: allTables, log, now: Date.now, recordLog });
    const damage = new Damage(log);
    const { store, broken } = openStore(config, log, damage, ownership);
    life.own('store', store);
    const sealer = openSealer(store, masterKey);
    await checkMasterKey(store, sealer);
    await keepHashKey(store);
    await numberNew(store);
    const epoch = await openEpoch(store);
    const dropped = await dropImports(store, allTables);
    if (dropped > 0) log.info({ accounts: dropped }, 'removed leftovers of interrupted imports');
    const actors = new ActorRegistry(store);
    life.onEnd('decisions', () => actors.drain());
    const base = { store, tables: allTables, actors, sealer, log, now: Date.now };
    const members = openMembers(base, config);
    life.own('removal of accounts', members.removal);
    const devices = await openDeviceAccess({ ...base, epoch }, members, config);
    const imports = new ImportDoor();
    const { given } = config;
    const listening: Core['listening'] = { port: config.port, ready: () => Promise.resolve(NOT_SERVED) };
    const reachable = { address: () => ownAddress(config, listening.port), mail: config.mail };
    const clock = new ClockWatch({ store, log, now: Date.now, elapsed: () => performance.now() });
    const opened = { ...members, ...devices, ...reachable, store, actors, epoch, clock, imports, given, listening };
    const shown = { ...opened, member: ownership };
    answer = (line, caller) => answerControl(shown, line, caller, log);
    const timeZones = new TimeZones({ store, actors, byDefault: config.timeZone });
    return { ...shown, tables: allTables, sealer, damage, timeZones, broken, keep: hub.keep, life };
  } catch (error) {
    await life.end().catch(() => undefined);
    throw error;
  }
}

/** Before the service listens, and without one. */
const NOT_SERVED: Readiness = { isReady: false, checks: [] };

/** Writes the schema of this version to a new data file, or over a damaged row; an older file was upgraded before. */
async function numberNew(store: Store): Promise<void> {
  if (schemaOf(store) !== SCHEMA || damagedSchemaRows(store).length > 0)
    await store.write(HUB, (batch) => putSchema(batch, SCHEMA));
}

/** Opens the store and logs failures of the disk. */
function openStore(
  { dataFolder: folder, mapBytes }: Config,
  log: Log,
  damage: Damage,
  ownership: Ownership | undefined,
): Pick<Core, 'store' | 'broken'> {
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
  const onDamaged = ({ table, key }: DamagedRow) => void damage.note('row', { table, key: keyText(key) });
  const recordLog = ownership?.recordLog;
  return { store: new Store({ folder, tables: allTables, mapBytes, onFailure, onDamaged, log: recordLog }), broken };
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
