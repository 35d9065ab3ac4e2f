/** Owns the address of a file of a vault among the resources of the gateway. */

export const FILE_TEMPLATE = 'cairn://vaults/{vault}/{+path}';

export function fileUri(vaultId: string, path: string): string {
  return `cairn://vaults/${vaultId}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
