/** Finds the vault of a command: the vault of the synced folder around a path, or the vault named by --vault. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { isInside } from '../../../client/next-command.ts';
import { quoted, shownLine } from '../../../client/shown.ts';
import { readState } from '../../../client/sync/base/state-file.ts';
import { syncedAround } from '../../../client/sync/folder/around.ts';
import { lookIfReadable } from '../../../client/sync/folder/file.ts';
import { SyncedFolder } from '../../../client/sync/folder/folder.ts';
import { VaultHub } from '../../../client/sync/hub.ts';
import { readRules } from '../../../client/sync/scan/choice.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import { type Options, takes } from '../../command.ts';
import { openTools } from '../tool-access.ts';
import { vaultNamed } from './vaults.ts';

/** JSON-RPC code: the path or the version does not exist on the hub. */
const NOT_FOUND = -32005;

export const PLACE_OPTIONS = [takes('folder', 'DIR'), takes('vault', 'NAME'), takes('server', 'URL')];

export const PLACE_COMPLETES = { vault: 'vault', FILE: 'file', PREFIX: 'vault path' } as const;

export const PLACE_EXPLAINS = {
  folder: 'synced folder, or a folder inside it; default: the current folder',
  vault: 'vault to use instead of the one of the folder',
  server: 'address of the hub; default: the one that the folder belongs to, else the last sign-in',
};

/** Of the commands that change a synced folder, which has one vault. */
export const FOLDER_EXPLAINS = {
  folder: PLACE_EXPLAINS.folder,
  vault: 'the vault of the folder, to be sure',
  server: 'address of the hub; default: the one that the folder belongs to',
};

export interface VaultPlace {
  readonly hub: VaultHub;
  /** The synced folder; undefined when --vault names the vault. */
  readonly root: string | undefined;
  /** Path of the chosen folder inside the vault; empty: the whole vault. */
  readonly below: string;
  /** True for a path that an ignore file or `--only` leaves out of the synced folder. */
  readonly leavesOut: (path: string) => boolean;
}

const NO_FOLDER = { root: undefined, below: '', leavesOut: () => false } as const;

/** The folder of a command: --folder, else the synced folder around `file` when that is not in the current one. */
export function folderOf(options: Options, file: string | undefined): string | undefined {
  const given = options.optional('folder');
  if (given !== undefined || file === undefined) return given;
  const path = resolve(file);
  const around = syncedAround(process.cwd());
  const isHere = around !== undefined && isInside(around, path);
  return isHere ? undefined : syncedAround(dirname(path));
}

/**
 * Opens the vault of a command on `file`, or on a folder; never creates one. Throws ClientError without a synced folder
 * or existing vault.
 */
export async function openPlace(options: Options, file?: string): Promise<VaultPlace> {
  const asked = resolve(folderOf(options, file) ?? '.');
  const name = options.optional('vault');
  const root = syncedAround(asked);
  const state = root === undefined ? undefined : readState(root);
  const { tools } = openTools(options.optional('server') ?? state?.server);
  if (name !== undefined) {
    return { hub: new VaultHub(tools, (await vaultNamed(tools, name)).vault_id), ...NO_FOLDER };
  }
  if (root === undefined || state === undefined) {
    throw new ClientError(
      `${asked} is not in a synced folder; name one with --folder, or a vault with --vault (\`cairn vault list\`).`,
    );
  }
  const leavesOut = (path: string) => readRules(new SyncedFolder(root), state.only, state.base).excludes(path);
  return { hub: new VaultHub(tools, state.vault_id), root, below: inVault(root, asked), leavesOut };
}

/**
 * The vault paths that a name may refer to, the most likely first: relative to the current directory, then relative to
 * the folder, as commands print paths. Throws ClientError when the name is outside the folder.
 */
export function pathsOf(root: string, given: string): readonly [string, ...string[]] {
  const [first, ...more] = [process.cwd(), root]
    .map((around) => resolve(around, given))
    .filter((path) => isInside(root, path) && path !== root)
    .map((path) => inVault(root, path));
  if (first === undefined) throw new ClientError(`${given} is not a file in ${root}.`);
  return [first, ...more];
}

/** Runs `work` on the named file. Throws ClientError when the hub does not know the file. */
export async function onFile<T>({ root }: VaultPlace, given: string, work: (path: string) => Promise<T>): Promise<T> {
  const path = root === undefined ? given.replace(/^\.\//, '') : pathHere(root, given);
  try {
    return await work(path);
  } catch (error) {
    const isUnknown = error instanceof ToolRefused && error.code === NOT_FOUND && error.data['path'] !== undefined;
    if (!isUnknown) throw error;
    throw root !== undefined && isFolder(join(root, path)) ? noFile(path) : notOnHub(path);
  }
}

export function notOnHub(path: string): ClientError {
  return new ClientError(`${shownLine(path)} is not on the hub; \`cairn sync list\` shows the files.`);
}

/** The command needs a file, and this is a folder. */
export function noFile(path: string): ClientError {
  const restore = `cairn sync restore --folder ${quoted(path)} --at TIME`;
  return new ClientError(`${shownLine(path)} is a folder. Name a file in it, or restore the folder: \`${restore}\`.`);
}

const isFolder = (absolute: string): boolean => lookIfReadable(absolute)?.isDirectory() === true;

function pathHere(root: string, given: string): string {
  const paths = pathsOf(root, given);
  return paths.find((path) => existsSync(join(root, path))) ?? paths[0];
}

/** The path in the vault of a path in a synced folder. */
export const inVault = (root: string, path: string): string =>
  relative(root, path).split(sep).join('/').normalize('NFC');
