/** Examines a hub and its machine from outside: settings, machine, data folder, doors. Read-only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { allTables } from '../../compose/tables.ts';
import type { Config } from '../../config.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { newestKnownMs } from '../../store/meta/clock-watch.ts';
import { isMasterKey, WRONG_KEY } from '../../store/sealing/key-check.ts';
import { masterKeyOf, openSealer } from '../../store/sealing/own-key.ts';
import { Store } from '../../store/store.ts';
import { checkProxy, checkPublicUrl, checkSignup, checkTls } from './door.ts';
import { type Finding, note, ok, wrong } from './finding.ts';
import { checkAccess, checkChores, checkLeftovers } from './folder.ts';
import { checkClock, checkDisk, checkMap, checkNode, checkOpenFiles } from './machine.ts';
import { askConditions, askRunning, type RunningHub } from './running.ts';

const PUBLIC_TIMEOUT_MS = 5000;

/** One finding per check. A running hub is examined with its own settings, else those of this process count. */
export async function examine(own: Config, nowMs: number): Promise<readonly Finding[]> {
  const { hub, findings } = await askRunning(own);
  const config = hub?.config ?? own;
  const { dataFolder, mapBytes, publicUrl } = config;
  const machine = [
    ...findings,
    ...checkLeftovers(dataFolder),
    await checkProcess(hub),
    checkOpenFiles(config.connectionsMax, hub?.pid),
  ];
  // A running hub has its memory map.
  if (hub === undefined) machine.push(checkMap(mapBytes));
  else machine.push(...(await askConditions(dataFolder)));
  const doors = [checkTls(config, nowMs), checkProxy(config), checkSignup(config)];
  if (publicUrl !== undefined) doors.push(await checkPublicUrl(publicUrl, PUBLIC_TIMEOUT_MS));
  if (!existsSync(join(dataFolder, DATA_FILE))) {
    const none = wrong('data', noHub(dataFolder).message);
    return [...machine, none, checkClock(0, nowMs), ...doors];
  }
  const { finding, newestMs } = await look(config, hub !== undefined);
  const folder = [finding, ...checkDisk(dataFolder, mapBytes), checkClock(newestMs, nowMs)];
  const access = checkAccess(dataFolder, own.masterKey !== undefined);
  return [...machine, ...folder, ...access, ...checkChores(dataFolder, nowMs), ...doors];
}

async function checkProcess(hub: RunningHub | undefined): Promise<Finding> {
  return hub === undefined ? await checkNode() : ok('node', `the running hub uses Node.js ${hub.node}`);
}

/**
 * Opens the data file read-only: checks that it opens and that the key is right, and returns the newest time in it. A
 * running hub has checked its key, which this process may not have.
 */
async function look(
  { dataFolder, mapBytes, masterKey }: Config,
  isRunning: boolean,
): Promise<{ finding: Finding; newestMs: number }> {
  try {
    const store = new Store({ folder: dataFolder, tables: allTables, mapBytes, readOnly: true });
    try {
      const isRight = isRunning || isMasterKey(store, openSealer(store, masterKeyOf(dataFolder, masterKey, store)));
      const finding = isRight ? ok('data', 'the data file matches this master key') : wrong('data', WRONG_KEY);
      return { finding, newestMs: newestKnownMs(store) };
    } finally {
      await store.close();
    }
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const isRights = code === 'EACCES' || code === 'EPERM';
    const finding = isRights
      ? note('data', 'this user cannot read the data folder; run `cairn doctor` as the user of the service.')
      : wrong('data', message);
    return { finding, newestMs: 0 };
  }
}
