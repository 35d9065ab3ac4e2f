/** The id and the name of a repository. Pure. */
import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';

/** The id of a repository, from its sorted root commits; of a shallow clone from its remote, else from where it ends. */
export function repositoryId(roots: readonly string[], shallow: readonly string[], remote: string | undefined): string {
  const of = (text: string) => createHash('sha256').update(text).digest('hex');
  if (shallow.length === 0) return of(roots.join('\n'));
  return of(remote === undefined ? `shallow\n${shallow.toSorted().join('\n')}` : `remote\n${plainRemote(remote)}`);
}

/** Name of a remote's repository, else of the folder. */
export function repositoryLabel(remote: string | undefined, folder: string): string {
  const name = basename(remote === undefined ? resolve(folder) : plainRemote(remote));
  return name.replace(/\.git$/, '') || 'repository';
}

/** A remote without scheme, user, password and `.git`: `host/path`. Both notations of git give the same. */
export function plainRemote(remote: string): string {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(remote);
  const bare = remote.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/^[^/@]*@/, '');
  const path = isUrl ? bare : bare.replace(/^([^/:]+):(?!\/\/)\/?/, '$1/');
  const [host = '', ...rest] = path
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/');
  return [host.toLowerCase(), ...rest].join('/');
}
