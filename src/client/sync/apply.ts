/** Does to one file of the folder what a change on the hub means for it. It overwrites nothing that was changed here. */
import { decidePull } from './decide.ts';
import { removeContent, Unwritable, writeContent } from './files.ts';
import type { LocalFile } from './scan.ts';
import { agree, type SyncSession } from './session.ts';

export interface RemoteSide {
  readonly sha256: string;
  readonly bytes: Buffer;
}

/** `done`; or why the path has to wait. */
export type Applied = 'done' | 'both changed' | { readonly unwritable: string };

/** Applies the hub's side, undefined for a delete. `local`: what was here when the decision was taken. */
export function applyRemote(
  session: SyncSession,
  path: string,
  local: Pick<LocalFile, 'sha256'> | undefined,
  remote: RemoteSide | undefined,
): Applied {
  const { folder, state, tell } = session;
  const action = decidePull(local?.sha256, remote?.sha256, state.base[path]?.sha256);
  try {
    switch (action) {
      case 'unchanged':
        delete state.conflicts[path];
        return 'done';
      case 'agree':
        agree(state, path, local);
        return 'done';
      case 'take':
      case 'revive': {
        const written = writeContent(folder, path, remote?.bytes ?? Buffer.alloc(0), local?.sha256);
        if (written === false) return 'both changed';
        agree(state, path, written);
        if (action === 'take') tell({ verb: 'pulled', path });
        else tell({ verb: 'revived', path, note: 'deleted here, changed elsewhere: the change stays' });
        return 'done';
      }
      case 'remove':
        if (!removeContent(folder, path, local?.sha256 ?? '')) return 'both changed';
        agree(state, path, undefined);
        tell({ verb: 'removed', path });
        return 'done';
      case 'keep':
        agree(state, path, undefined);
        tell({ verb: 'kept', path, note: 'changed here, deleted elsewhere: the change stays' });
        return 'done';
      case 'conflict':
        return 'both changed';
    }
  } catch (error) {
    if (error instanceof Unwritable) return { unwritable: error.message };
    throw error;
  }
}
