/** Formats the URI of a vault file as a resource of the gateway. */

export const FILE_TEMPLATE = 'cairn://vaults/{vault}/{+path}';

export function fileUri(vaultId: string, path: string): string {
  return `cairn://vaults/${vaultId}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
