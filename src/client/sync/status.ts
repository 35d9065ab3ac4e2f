/** Says what a sync would do, without doing it: three hashes for each path, no content. */
import { z } from 'zod';
import { decidePull, decidePush } from './decide.ts';
import { type SyncSession, scan } from './session.ts';

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
  const { state } = session;
  const { files, skipped, leavesOut } = scan(session, false);
  const remote = await listRemote(session);
  const found = { pull: [] as string[], push: [] as string[], delete: [] as string[], conflict: [] as string[] };
  const paths = new Set([...files.keys(), ...remote.keys(), ...Object.keys(state.base)]);
  for (const path of [...paths].sort()) {
    if (leavesOut(path)) continue;
    const base = state.base[path]?.sha256;
    const local = files.get(path)?.sha256;
    const hub = remote.get(path);
    if (state.conflicts[path] !== undefined && local !== hub) found.conflict.push(path);
    else if (hub !== base) {
      const action = decidePull(local, hub, base);
      if (action === 'conflict') found.conflict.push(path);
      else if (action === 'keep') found.push.push(path);
      else if (action !== 'agree') found.pull.push(path);
    } else {
      const action = decidePush(local, base);
      if (action === 'delete') found.delete.push(path);
      else if (action !== undefined) found.push.push(path);
    }
  }
  return { ...found, skipped: Object.fromEntries(skipped) };
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
