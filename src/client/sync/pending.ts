/** Lists the pending conflicts of other devices on the hub, each with the command that settles it. */
import { z } from 'zod';
import { readAs } from './remote-record.ts';
import type { Replica } from './replica.ts';

const pageSchema = z.object({
  conflicts: z.array(z.object({ conflict_id: z.string(), path: z.string(), device_id: z.string() })),
  cursor: z.string().nullable(),
});

/** Pending conflicts of other folders, as sentences by path. */
export async function pendingElsewhere({ hub, state }: Replica): Promise<Map<string, string>> {
  const own = new Set([...state.waits.values()].map(({ conflictId }) => conflictId));
  const found = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const { structured } = await hub.call('sync_pending_conflicts', cursor === null ? {} : { cursor });
    const page: z.infer<typeof pageSchema> = readAs(pageSchema, structured);
    for (const { conflict_id: id, path, device_id: device } of page.conflicts) {
      if (own.has(id)) continue;
      const settle = `from ${device}; resolve it there, or here: cairn call sync_resolve_conflict --conflict_id=${id} --keep=theirs (or --keep=yours)`;
      const before = found.get(path);
      found.set(path, before === undefined ? settle : `${before}; ${settle}`);
    }
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}
