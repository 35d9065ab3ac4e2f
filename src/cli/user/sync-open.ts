/** Opens the folder of a sync command, for the vault it is already synced with or the one that the options name. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { ClientError, Unreachable } from '../../client/client-error.ts';
import { readPace } from '../../client/pace.ts';
import { formatBytes, openStatusLine, type StatusLine } from '../../client/progress.ts';
import { shownLine } from '../../client/shown.ts';
import { newState, type SyncState } from '../../client/sync/base/state.ts';
import { readState } from '../../client/sync/base/state-file.ts';
import { StateStore } from '../../client/sync/base/store.ts';
import { syncedAround } from '../../client/sync/folder/around.ts';
import { SyncedFolder } from '../../client/sync/folder/folder.ts';
import { VaultHub } from '../../client/sync/hub.ts';
import { LargeQueue } from '../../client/sync/large-queue.ts';
import { readAs } from '../../client/sync/remote-record.ts';
import type { Replica, SyncEvent } from '../../client/sync/replica.ts';
import type { ToolClient } from '../../client/tools.ts';
import { countWithNoun, grouped } from '../../text/count.ts';
import { nearest } from '../../text/nearest.ts';
import { printError } from '../output.ts';
import { useUmaskOfUser } from '../process.ts';
import { askPerson } from '../secret-input.ts';
import { openTools } from './tool-access.ts';

export interface FolderChoice {
  /** Undefined: the synced folder around the current one, else the current folder. */
  readonly folder: string | undefined;
  readonly vault?: string | undefined;
  readonly server?: string | undefined;
  /** `sync`: creates a missing folder or vault if named. `pull`: creates only the folder. `read`: creates nothing. */
  readonly makes: 'sync' | 'pull' | 'read';
  /** Creates the vault without a question even if its name is similar to another vault's. */
  readonly create?: boolean | undefined;
  /** Patterns of the paths that this device syncs; empty: the patterns chosen earlier. */
  readonly only?: readonly string[] | undefined;
  /** Bytes per second, as `500K` or `2M`. */
  readonly limitUpload?: string | undefined;
  readonly limitDownload?: string | undefined;
}

export interface OpenedReplica {
  readonly replica: Replica;
  /** Returns the events since the previous call. */
  readonly takeEvents: () => SyncEvent[];
  readonly line: StatusLine;
}

/** Finds the folder. Throws ClientError when it may not be created, or is inside another synced folder. */
function findFolder({ folder, vault, makes }: FolderChoice): string {
  const named = resolve(folder ?? '.');
  if (existsSync(named) && !statSync(named).isDirectory()) {
    throw new ClientError(`${named} is a file; pass the folder that contains it with --folder.`);
  }
  const around = syncedAround(named);
  if (around === named) return named;
  if (folder === undefined && around !== undefined) return around;
  if (makes !== 'sync' && vault === undefined) {
    throw new ClientError(`${named} is not a synced folder; check --folder, or name a vault with --vault.`);
  }
  if (!existsSync(named) && (makes === 'read' || vault === undefined)) {
    const hint = makes === 'read' ? '' : ' To create it and fill it from a vault, add --vault NAME.';
    throw new ClientError(`there is no folder ${named}; check --folder.${hint}`);
  }
  if (around !== undefined && vault === undefined) {
    throw new ClientError(`${named} is inside ${around}, which is synced. Leave out --folder to sync that one.`);
  }
  return named;
}

/**
 * A name similar to another vault's is probably a typo: a person is asked, a script gets an error. Throws ClientError.
 */
async function mayCreate(name: string, existing: readonly string[], { create, makes }: FolderChoice): Promise<boolean> {
  // Names that differ only in their numbers are meant: v1 and v2, notes and notes2.
  const like = nearest(
    name,
    existing.filter((other) => withoutDigits(other) !== withoutDigits(name)),
  );
  if (makes !== 'sync') {
    const hint = like === undefined ? 'run `cairn vault list`.' : `did you mean ${shownLine(like)}?`;
    throw new ClientError(`there is no vault named ${shownLine(name)}; ${hint}`);
  }
  // A script that names a new vault means it; a person may have mistyped.
  if (create === true || (like === undefined && !process.stderr.isTTY)) return true;
  const guess = like === undefined ? '' : ` Did you mean "${shownLine(like)}"?`;
  const question = `There is no vault "${shownLine(name)}".${guess}`;
  const answer = process.stderr.isTTY ? await askPerson(`${question} Create "${shownLine(name)}"? [y/N] `) : undefined;
  if (answer === undefined) throw new ClientError(`${question} To create it, add --create.`);
  return /^y(es)?$/i.test(answer);
}

const withoutDigits = (name: string) => name.replace(/\d/g, '');

/**
 * Finds the vault by name: on the hub or, while that is down, by the name under which the folder was synced last. Creates it
 * only for a folder without one: `kept` undefined. Throws ClientError.
 */
async function chosenVault(tools: ToolClient, choice: FolderChoice, kept: SyncState | undefined, folder: string) {
  try {
    const { found, names } = await findVault(tools, choice.vault);
    if (kept === undefined) return found ?? (await makeVault(tools, names, choice));
    // A vault that was renamed since is still the one of this folder.
    const meant = found ?? (kept.vault_name === choice.vault ? kept.vault_id : undefined);
    if (meant !== kept.vault_id) throw belongsElsewhere(folder, kept);
    return meant;
  } catch (error) {
    if (error instanceof Unreachable && kept !== undefined && kept.vault_name === choice.vault) return kept.vault_id;
    throw error;
  }
}

function belongsElsewhere(folder: string, { vault_name, vault_id, server }: SyncState): ClientError {
  return new ClientError(
    `${folder} belongs to another vault (${shownLine(vault_name ?? vault_id)} on ${server}). Use another folder, or remove ${folder}/.cairn to start over.`,
  );
}

const vaultSchema = z.object({ vault_id: z.string() });
const vaultsSchema = z.object({
  vaults: z.array(z.object({ vault_id: z.string(), name: z.string(), is_primary: z.boolean() })),
});

/** Finds the named vault, with the names of all; without a name, the primary vault. Throws ClientError when there is none. */
async function findVault(tools: ToolClient, name: string | undefined) {
  const { vaults } = readAs(vaultsSchema, (await tools.call('vault_list', {})).structured);
  const names = vaults.map((vault) => vault.name);
  const found = vaults.find((vault) => (name === undefined ? vault.is_primary : vault.name === name));
  if (found === undefined && name === undefined) {
    const list = names.map(shownLine).join(', ');
    const there = vaults.length === 0 ? 'There is none yet, so it is created.' : `There is: ${list}.`;
    throw new ClientError(`name a vault with --vault. ${there}`);
  }
  return { found: found?.vault_id, names };
}

/** Creates the named vault where that is meant. Throws ClientError. */
async function makeVault(tools: ToolClient, names: readonly string[], choice: FolderChoice): Promise<string> {
  const { vault: name = '' } = choice;
  if (!(await mayCreate(name, names, choice)))
    throw new ClientError(`no vault ${shownLine(name)} was created; \`cairn vault list\` shows those that exist.`);
  const { vault_id } = readAs(vaultSchema, (await tools.call('vault_create', { name })).structured);
  printError(`created vault ${shownLine(name)}`);
  return vault_id;
}

/** Opens the folder and its vault for one sync command. `signal` ends a watch, also in the middle of a round. Throws ClientError. */
export async function openReplica(choice: FolderChoice, signal?: AbortSignal): Promise<OpenedReplica> {
  useUmaskOfUser();
  const asked = findFolder(choice);
  const kept = readState(asked);
  const { server, tools, deviceName } = openTools(choice.server ?? kept?.server, {
    upload: readPace(choice.limitUpload, 'limit-upload'),
    download: readPace(choice.limitDownload, 'limit-download'),
  });
  const { vault } = choice;
  if (kept !== undefined && kept.server !== server) throw belongsElsewhere(asked, kept);
  const isKept = kept !== undefined && vault === undefined;
  const vaultId = isKept ? kept.vault_id : await chosenVault(tools, choice, kept, asked);
  const folder = new SyncedFolder(asked);
  const events: SyncEvent[] = [];
  const line = openStatusLine();
  const state = kept ?? newState(server, vaultId, deviceName);
  const { only = [] } = choice;
  const chosen = {
    vault_name: vault ?? state.vault_name,
    only: only.length === 0 ? state.only : only.every((pattern) => pattern === '*') ? [] : only,
  };
  const replica: Replica = {
    folder,
    hub: new VaultHub(tools, vaultId, {
      onBusy: (seconds) => line.show(() => `the hub is busy; waiting ${seconds} s`),
      isEnding: () => signal !== undefined && (signal.aborted || existsSync(folder.own('paused'))),
    }),
    state: new StateStore(folder, { ...state, ...chosen }),
    large: new LargeQueue(),
    tell: (event) => void events.push(event),
    progress(transfer, { files, filesTotal, bytes, bytesTotal }) {
      line.show(() => {
        const amount = `${formatBytes(bytes)} of ${formatBytes(bytesTotal)}`;
        return `${transfer}  ${grouped(files)} of ${countWithNoun(filesTotal, 'file')}, ${amount}`;
      });
    },
  };
  return { replica, takeEvents: () => events.splice(0), line };
}
