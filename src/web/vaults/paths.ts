/** Builds the addresses of the pages of vaults; names are percent-encoded. Pure. */

export function vaultPath(vaultId: string): string {
  return `/vaults/${encodeURIComponent(vaultId)}`;
}

/** The page of a folder; empty: the vault itself. `at`: as it was at that time, ISO 8601. `after`: a further page. */
export function folderPath(
  vaultId: string,
  folder: string,
  { at, after }: { readonly at?: string | undefined; readonly after?: string | undefined } = {},
): string {
  const query = new URLSearchParams({
    ...(folder === '' ? {} : { folder }),
    ...(at === undefined ? {} : { at }),
    ...(after === undefined ? {} : { after }),
  });
  return query.size === 0 ? vaultPath(vaultId) : `${vaultPath(vaultId)}?${query}`;
}

/** The tar archive of a folder; empty: the whole vault. */
export function tarPath(vaultId: string, folder: string): string {
  return `${vaultPath(vaultId)}/tar${folder === '' ? '' : `?${new URLSearchParams({ folder })}`}`;
}

export function newFilePath(vaultId: string, folder: string): string {
  return `${vaultPath(vaultId)}/new${folder === '' ? '' : `?${new URLSearchParams({ folder })}`}`;
}

/** The editor. With `seq` it begins with that version, and says what changed since. */
export function editPath(vaultId: string, path: string, seq?: number): string {
  return `${vaultPath(vaultId)}/edit?${query(path, seq)}`;
}

/** The folder that contains a file or a folder; empty: the vault itself. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function filePath(vaultId: string, path: string, seq?: number): string {
  return `${vaultPath(vaultId)}/file?${query(path, seq)}`;
}

/** The download of a version. */
export function bytesPath(vaultId: string, path: string, seq: number): string {
  return `${vaultPath(vaultId)}/bytes?${query(path, seq)}`;
}

/** The changes made by a version; with `to`, the changes since that version. */
export function changesPath(vaultId: string, path: string, seq: number, to?: 'current'): string {
  return `${vaultPath(vaultId)}/changes?${query(path, seq)}${to === undefined ? '' : `&to=${to}`}`;
}

/** The bytes of an image, for display. */
export function rawPath(vaultId: string, path: string, seq: number): string {
  return `${vaultPath(vaultId)}/raw?${query(path, seq)}`;
}

/** The pending conflicts; `by`: how they are grouped, `cursor`: a further page. */
export function conflictsPath(vaultId: string, query: Readonly<Record<string, string>> = {}): string {
  const asked = new URLSearchParams(query);
  return `${vaultPath(vaultId)}/conflicts${asked.size === 0 ? '' : `?${asked}`}`;
}

export function conflictPath(vaultId: string, conflictId: string): string {
  return `${vaultPath(vaultId)}/conflicts/${encodeURIComponent(conflictId)}`;
}

/** The download of a side of a conflict. */
export function sidePath(vaultId: string, conflictId: string, side: 'yours' | 'theirs'): string {
  return `${conflictPath(vaultId, conflictId)}/${side}`;
}

function query(path: string, seq: number | undefined): string {
  return new URLSearchParams({ path, ...(seq === undefined ? {} : { seq: String(seq) }) }).toString();
}
