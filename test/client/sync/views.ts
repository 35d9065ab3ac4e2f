/** What a client's plans look at, in a few words: files, base records and waiting paths by name. */
import { NameMap } from '../../../src/client/sync/base/name-map.ts';
import type { BaseRecord, Wait } from '../../../src/client/sync/base/state.ts';
import type { LocalFile } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';

/** A hash in one letter, or more of a file. */
type File = string | (Partial<LocalFile['seen']> & Pick<LocalFile, 'sha256'> & { readonly executable?: boolean });

const entries = <T>(byName: Readonly<Record<string, T>>) => Object.entries(byName) as [FolderPath, T][];

/** A scan of these files. `out`: excluded paths. `skipped`: paths that cannot be synced, which are left out as well. */
export function scanOf(
  files: Readonly<Record<string, File>>,
  out: readonly string[] = [],
  skipped: readonly string[] = [],
) {
  const found = entries(files).map(([path, file]): [FolderPath, LocalFile] => {
    const { sha256, executable, ...seen } = typeof file === 'string' ? { sha256: file } : file;
    return [
      path,
      { sha256, executable, seen: { bytes: 1, modifiedMs: 0, changedMs: 0, inode: 1, hashedMs: 0, ...seen } },
    ];
  });
  return {
    files: new NameMap(found),
    otherForms: new Map(),
    twins: new Map(),
    skipped: new Map(skipped.map((path) => [path, 'It cannot be read.'])),
    problems: new Map(),
    links: new Set<string>(),
    mounts: [],
    excludes: (path: string) => out.includes(path),
    leavesOut: (path: string) => out.includes(path) || skipped.includes(path),
  };
}

/** A state with these base records and waiting paths. */
export function stateOf(
  base: Readonly<Record<string, string | BaseRecord>>,
  waits: Readonly<Record<string, Partial<Wait> & Pick<Wait, 'kind'>>> = {},
) {
  const wait = { remote: null, local: null, conflictId: null, reason: 'It waits.' };
  return {
    base: new NameMap(entries(base).map(([path, one]) => [path, typeof one === 'string' ? { sha256: one } : one])),
    waits: new NameMap(entries(waits).map(([path, one]) => [path, { ...wait, ...one }])),
    foreign: new Map<string, string>(),
  };
}
