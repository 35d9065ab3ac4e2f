/** cairn sync service: one watch of all listed folders as a service of this user. */
import { homedir, userInfo } from 'node:os';
import { ClientError } from '../../../client/client-error.ts';
import { type ClientSettings, readClientSettings } from '../../../client/settings.ts';
import { shownLine } from '../../../client/shown.ts';
import { CredentialFile } from '../../../client/sign-in/credential-file.ts';
import { chooseServer } from '../../../client/sign-in/credentials.ts';
import { readState } from '../../../client/sync/base/state-file.ts';
import {
  installWatch,
  removeWatch,
  type ServiceStanding,
  serviceStanding,
} from '../../../client/sync/service/install.ts';
import { type Supervisor, supervisorOf } from '../../../client/sync/service/supervisor.ts';
import { knownFolders } from '../../../client/sync/watch/folder-list.ts';
import type { Command, Options } from '../../command.ts';
import { printResult, table } from '../../output.ts';
import { ownCommand } from '../../own-command.ts';
import { UsageError } from '../../usage-error.ts';

export const syncServiceCommand: Command = {
  name: 'sync service',
  summary: 'install, status or remove: run `cairn sync watch --all` now and whenever you are signed in',
  operands: ['ACTION'],
  completes: { ACTION: ['install', 'status', 'remove'] },
  examples: ['cairn sync service install', 'cairn sync service status', 'cairn sync service remove'],
  run: service,
};

async function service(options: Options): Promise<number> {
  const act = { install, status, remove }[options.operand() ?? ''];
  if (act === undefined) throw new UsageError('sync service needs one of: install, status, remove');
  const settings = readClientSettings();
  return act(options, supervisorHere(settings), settings);
}

function supervisorHere(settings: ClientSettings): Supervisor {
  const { platform } = process;
  const supervisor = supervisorOf({
    platform,
    home: homedir(),
    configFolder: settings.configFolder,
    uid: userInfo().uid,
    command: ownCommand(),
    environment: settings.serviceEnvironment,
  });
  if (supervisor !== undefined) return supervisor;
  throw new ClientError(`there is no service manager for ${platform} here; let yours run: cairn sync watch --all`);
}

function install(options: Options, supervisor: Supervisor, settings: ClientSettings): number {
  checkSignIns(settings);
  installWatch(supervisor);
  const found = standingHere(supervisor);
  return printResult(options, documentOf(supervisor, found), () =>
    [`${tableOf(supervisor, found)}\n`, ...adviceOf(supervisor, found)].join('\n'),
  );
}

function status(options: Options, supervisor: Supervisor): number {
  const found = standingHere(supervisor);
  printResult(options, documentOf(supervisor, found), () =>
    found.isInstalled
      ? [tableOf(supervisor, found), ...adviceOf(supervisor, found)].join('\n')
      : 'not installed; `cairn sync service install` installs it',
  );
  return found.isActive ? 0 : 1;
}

function remove(options: Options, supervisor: Supervisor): number {
  const was = removeWatch(supervisor);
  return printResult(options, { removed: was }, () =>
    was ? 'removed; the folders, their list and the sign-in stay' : 'there is no service to remove',
  );
}

/** A service has no CAIRN_KEY: without a stored sign-in it would end at once, and only its log would tell. */
function checkSignIns(settings: ClientSettings): void {
  const folders = knownFolders(settings.syncFile) ?? [];
  if (folders.length === 0) {
    throw new ClientError('no folder is listed yet; add one first: cairn sync add DIR --vault NAME');
  }
  const stored = new CredentialFile(settings.credentialFile);
  for (const { folder, server } of folders) {
    const hub = server ?? readState(folder)?.server ?? chooseServer({ ...settings, key: undefined }, undefined);
    if (stored.login(hub) !== undefined) continue;
    throw new ClientError(
      `a service of yours has no CAIRN_KEY, and there is no sign-in to ${shownLine(hub)}; run \`cairn login --server ${shownLine(hub)}\` first.`,
    );
  }
}

const standingHere = (supervisor: Supervisor): ServiceStanding => serviceStanding(supervisor, userInfo().username);

function documentOf({ name, file }: Supervisor, { isInstalled, isActive, outlivesSession }: ServiceStanding) {
  return { manager: name, file, installed: isInstalled, active: isActive, outlives_session: outlivesSession };
}

function tableOf({ name, file, log }: Supervisor, { isActive }: ServiceStanding): string {
  return table([
    ['service', shownLine(file)],
    ['run by', name],
    ['state', isActive ? 'active' : 'not active'],
    ['folders', 'cairn sync status --all'],
    ['log', shownLine(log)],
  ]);
}

function adviceOf({ name }: Supervisor, { outlivesSession }: ServiceStanding): string[] {
  if (outlivesSession) return [];
  const always = name === 'systemd' ? ' To let it run always: loginctl enable-linger' : '';
  return [`It runs while you are signed in.${always}`];
}
