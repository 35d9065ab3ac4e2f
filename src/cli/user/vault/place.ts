/** Finds what a command about a vault is about: the synced folder around a place, or the vault that --vault names. */
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { VaultHub } from '../../../client/sync/hub.ts';
import { readState, syncedAround } from '../../../client/sync/state-file.ts';
import { type Options, takes } from '../../command.ts';
import { openTools } from '../tool-access.ts';
import { vaultNamed } from './vaults.ts';

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

/** The path in the vault of a file that was named: relative to where the command runs, if that is in the folder. */
export function pathOf({ root }: VaultPlace, given: string): string {
  if (root === undefined) return given.replace(/^\.\//, '');
  const around = isInside(root, process.cwd()) || isAbsolute(given) ? process.cwd() : root;
  const path = resolve(around, given);
  if (!isInside(root, path) || path === root) throw new ClientError(`${given} is not a file in ${root}.`);
  return inVault(root, path);
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}${sep}`);
}

const inVault = (root: string, path: string): string => relative(root, path).split(sep).join('/').normalize('NFC');
