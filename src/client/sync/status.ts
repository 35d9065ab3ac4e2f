/** Says what a sync would do, without doing it: three hashes for each path, no content. */
import { z } from 'zod';
import { decidePull, decidePush } from './decide.ts';
import { scanFolder } from './scan.ts';
import type { SyncSession } from './session.ts';
import { NameIndex } from './spelling.ts';

export interface SyncStatus {
  /** Changed on the hub. */
  readonly pull: readonly string[];
  /** Changed here. */
  readonly push: readonly string[];
  /** Gone here, to be deleted on the hub. */
  readonly delete: readonly string[];
  /** Changed on both sides. */
  readonly conflict: readonly string[];
  readonly skipped: Readonly<Record<string, string>>;
}

const pageSchema = z.object({
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
  cursor: z.string().nullable(),
  has_more: z.boolean(),
});

export async function statusOf(session: SyncSession): Promise<SyncStatus> {
  const { folder, state } = session;
  const { files, skipped, leavesOut } = scanFolder(folder, state.base);
  const remote = await listRemote(session);
  const base = new Map(Object.entries(state.base).map(([path, { sha256 }]) => [path, sha256]));
  const here = new Map([...files].map(([path, { sha256 }]) => [path, sha256]));
  const spellings = alignSpellings({ remote, here, base });
  const found = { pull: [] as string[], push: [] as string[], delete: [] as string[], conflict: [] as string[] };
  const paths = new Set([...here.keys(), ...remote.keys(), ...base.keys()]);
  for (const path of [...paths].sort()) {
    if (leavesOut(path)) continue;
    const [local, hub, common] = [here.get(path), remote.get(path), base.get(path)];
    const spelling = spellings.get(path);
    if (state.conflicts[path] !== undefined && local !== hub) found.conflict.push(path);
    else if (hub !== common) {
      const action = decidePull(local, hub, common);
      if (action === 'conflict') found.conflict.push(path);
      else if (action === 'keep') found.push.push(path);
      else if (action !== 'agree' || spelling !== undefined) found.pull.push(path);
    } else {
      const action = decidePush(local, common);
      if (action === 'delete') found.delete.push(path);
      else if (action !== undefined || spelling?.isOurs === true) found.push.push(spelling?.path ?? path);
      else if (spelling !== undefined) found.pull.push(path);
    }
  }
  return { ...found, skipped: Object.fromEntries(skipped) };
}

interface Spelling {
  /** As it is here. */
  readonly path: string;
  /** It got this spelling here, and the hub is to be told. */
  readonly isOurs: boolean;
}

/** Puts what is here in another spelling under the name that the hub has. Gives these names, with what they are here. */
function alignSpellings(sides: Record<'remote' | 'here' | 'base', Map<string, string>>): Map<string, Spelling> {
  const { remote, here, base } = sides;
  const found = new Map<string, Spelling>();
  const names = new NameIndex([...remote.keys(), ...here.keys(), ...base.keys()]);
  for (const path of remote.keys()) {
    const isOurs = base.has(path);
    for (const other of names.others(path)) {
      if (here.has(other) && !here.has(path)) found.set(path, { path: other, isOurs });
      for (const side of [here, base]) {
        const hash = side.get(other);
        if (hash === undefined || side.has(path)) continue;
        side.set(path, hash);
        side.delete(other);
      }
    }
  }
  return found;
}

/** The hash of every file of the vault, by path. */
async function listRemote({ hub }: SyncSession): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const { structured } = await hub.call('sync_list', cursor === null ? {} : { cursor });
    const page: z.infer<typeof pageSchema> = pageSchema.parse(structured);
    for (const { path, sha256 } of page.files) found.set(path, sha256);
    cursor = page.has_more ? page.cursor : null;
  } while (cursor !== null);
  return found;
}
