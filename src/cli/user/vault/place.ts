/** Finds what a command about a vault is about: the synced folder around a place, or the vault that --vault names. */
import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { shownLine } from '../../../client/shown.ts';
import { VaultHub } from '../../../client/sync/hub.ts';
import { readState, syncedAround } from '../../../client/sync/state-file.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import { type Options, takes } from '../../command.ts';
import { openTools } from '../tool-access.ts';
import { vaultNamed } from './vaults.ts';

/** JSON-RPC code of a path that the hub never had, or of a version of it. */
const NOT_FOUND = -32005;

export const PLACE_OPTIONS = [takes('folder', 'DIR'), takes('vault', 'NAME'), takes('server', 'URL')];

export const PLACE_EXPLAINS = {
  folder: 'synced folder, or a folder inside it; default: the current folder',
  vault: 'vault to use instead of the one of the folder',
  server: 'address of the hub; default: the one that the folder belongs to, else the last sign-in',
};

export interface VaultPlace {
  readonly hub: VaultHub;
  /** The synced folder; undefined: the vault was named. */
  readonly root: string | undefined;
  /** Path in the vault of the folder that was named; empty: all of it. */
  readonly below: string;
}

/** Never creates a vault. Throws ClientError when there is neither a synced folder nor a vault of the name. */
export async function openPlace(options: Options): Promise<VaultPlace> {
  const asked = resolve(options.optional('folder') ?? '.');
  const name = options.optional('vault');
  const root = syncedAround(asked);
  const state = root === undefined ? undefined : readState(root);
  const { tools } = openTools(options.optional('server') ?? state?.server);
  if (name !== undefined) {
    return { hub: new VaultHub(tools, (await vaultNamed(tools, name)).vault_id), root: undefined, below: '' };
  }
  if (root === undefined || state === undefined) {
    throw new ClientError(
      `${asked} is not in a synced folder; name one with --folder, or a vault with --vault (\`cairn vault list\`).`,
    );
  }
  return { hub: new VaultHub(tools, state.vault_id), root, below: inVault(root, asked) };
}

/**
 * The paths in the vault that a name may mean, the likely one first: relative to where the command runs, if that is in the
 * folder, or to the folder, as commands print it. Throws ClientError when it is none.
 */
export function pathsOf(root: string, given: string): readonly [string, ...string[]] {
  const isHere = isInside(root, process.cwd());
  const [first, ...more] = [...(isHere ? [process.cwd()] : []), root]
    .map((around) => resolve(around, given))
    .filter((path) => isInside(root, path) && path !== root)
    .map((path) => inVault(root, path));
  if (first === undefined) throw new ClientError(`${given} is not a file in ${root}.`);
  return [first, ...more];
}

/** Runs work on the file that was named. Throws ClientError when the hub never had it. */
export async function onFile<T>({ root }: VaultPlace, given: string, work: (path: string) => Promise<T>): Promise<T> {
  const path = root === undefined ? given.replace(/^\.\//, '') : pathHere(root, given);
  try {
    return await work(path);
  } catch (error) {
    const isUnknown = error instanceof ToolRefused && error.code === NOT_FOUND && error.data['path'] !== undefined;
    throw isUnknown ? notOnHub(path) : error;
  }
}

export function notOnHub(path: string): ClientError {
  return new ClientError(`${shownLine(path)} is not on the hub; \`cairn sync list\` shows the files.`);
}

function pathHere(root: string, given: string): string {
  const paths = pathsOf(root, given);
  return paths.find((path) => existsSync(join(root, path))) ?? paths[0];
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}${sep}`);
}

const inVault = (root: string, path: string): string => relative(root, path).split(sep).join('/').normalize('NFC');
