/** Notices a path that begins with the name of another vault: it is read as a path of the primary one. */
import { fileUri } from '../../sync/tools/uri.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { Shelves } from './thing.ts';

/** A place in another vault than the primary one. */
export interface MeantPlace {
  /** Its id. */
  readonly id: string;
  readonly vaultId: string;
  /** The path in that vault; empty: the whole vault. */
  readonly path: string;
}

/** The place in the vault whose name a path begins with, or `vaults/` and its name. Undefined: no other vault has it. */
export function meantPlace({ sync }: Pick<Shelves, 'sync'>, accountId: string, path: string): MeantPlace | undefined {
  const [name = '', ...rest] = path.replace(/^vaults\//, '').split('/');
  const wanted = foldCase(name);
  const vault = sync.vaults
    .list(accountId)
    .find(({ record }) => !record.is_primary && foldCase(record.name) === wanted);
  if (vault === undefined) return undefined;
  const inside = rest.join('/');
  return { id: fileUri(vault.id, inside), vaultId: vault.id, path: inside };
}
