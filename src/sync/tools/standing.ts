/** Shows the sync status of a device: what to pull, push, delete and resolve, and the cursor to continue from. */

import { z } from 'zod';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import { type ComparedFile, type Comparison, compareDevice } from '../devices/compare.ts';
import { type DeviceManifest, type GivenManifest, readDeviceManifest } from '../devices/manifest.ts';
import { cursorAt } from '../pull/cursor.ts';
import type { SyncReading } from '../reading.ts';

const place = {
  path: z.string(),
  local_path: z.string().optional().describe('As the device spells it, where that differs'),
};

/** The result of action `status`. All members are optional: the other actions return the result of their tool. */
export const standingShape = {
  vault_id: z.string().optional(),
  in_sync: z.int().nonnegative().optional().describe('Files that are the same on both sides'),
  pull: z
    .array(z.object({ ...place, sha256: z.string(), size_bytes: z.int().nonnegative() }))
    .optional()
    .describe('Newer on the hub: sync_pull them'),
  push: z
    .array(z.object({ ...place, base_sha: z.string(), deleted: z.boolean() }))
    .optional()
    .describe('Newer or deleted on the device: sync_push them with this base_sha'),
  delete: z
    .array(z.object(place))
    .optional()
    .describe('Deleted on the hub, unchanged on the device: delete them there'),
  conflict: z
    .array(
      z.object({
        ...place,
        kind: z.enum(['edit/edit', 'edit/delete', 'delete/edit']).describe('On the device, then on the hub'),
        server_sha256: z.string().nullable().describe('Null: deleted on the hub'),
      }),
    )
    .optional()
    .describe('Changed on both sides, or it is unknown which is newer: sync_merge, then sync_push'),
  refused: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .optional()
    .describe('Manifest names the hub does not accept'),
  has_more: z.boolean().optional().describe('True: more follows; do these, then call again'),
  cursor: z.string().nullable().optional().describe('Position of the vault: sync_pull with it returns later changes'),
  server_time: z.string().optional(),
};

/** Compares a device with a vault. Throws Refusal `invalid_fields`. */
export async function standingResult(
  reading: SyncReading,
  accountId: string,
  givenVault: string | undefined,
  { prefix, ...given }: GivenManifest & { readonly prefix: string },
) {
  const vaultId = await reading.vaults.idOf(accountId, givenVault);
  const device = await readDeviceManifest(accountId, given);
  const { seq } = reading.reader.head(vaultId);
  const comparison = await compareDevice(reading, { accountId, vaultId }, device, foldCase(prefix));
  const structured = {
    vault_id: vaultId,
    ...comparisonView(comparison, device),
    cursor: cursorAt(reading, vaultId, seq),
    server_time: new Date(reading.now()).toISOString(),
  };
  const { pull, push, delete: gone, conflict, refused } = structured;
  const more = structured.has_more ? '; more follows: do these, then call again' : '';
  const headline = `${plural(comparison.same, 'file')} the same, cursor ${structured.cursor}${more}; to do`;
  const steps = [
    ...pull.map(({ path, sha256 }) => `pull ${path} (sha256 ${sha256})`),
    ...push.map(({ path, base_sha: base, deleted }) => `push ${path}${deleted ? ' deleted' : ''} (base_sha "${base}")`),
    ...gone.map(({ path }) => `delete ${path} on the device`),
    ...conflict.map(({ path, kind }) => `merge ${path} (${kind})`),
    ...refused.map(({ path, reason }) => `rename ${path}: ${reason}`),
  ];
  const text = steps.length === 0 ? `${headline}: nothing` : headed(headline, steps, (step) => step);
  return { structured, text };
}

function comparisonView({ tasks, same, hasMore }: Comparison, { refused }: DeviceManifest) {
  const pushOf = (file: ComparedFile, deleted: boolean) => ({
    ...placeOf(file),
    base_sha: currentOf(file) ?? '',
    deleted,
  });
  return {
    in_sync: same,
    pull: tasks.pull.map((file) => ({
      ...placeOf(file),
      sha256: currentOf(file) ?? '',
      size_bytes: file.remote?.size_bytes ?? 0,
    })),
    push: [...tasks.push.map((file) => pushOf(file, false)), ...tasks.push_delete.map((file) => pushOf(file, true))],
    delete: tasks.delete.map(placeOf),
    conflict: tasks.conflict.map((file) => ({
      ...placeOf(file),
      kind: kindOf(file),
      server_sha256: currentOf(file) ?? null,
    })),
    refused: refused.slice(0, limits.standingPathsMax),
    has_more: hasMore || refused.length > limits.standingPathsMax,
  };
}

function placeOf({ path, given }: ComparedFile) {
  return given === undefined || given === path ? { path } : { path, local_path: given };
}

/** Returns the SHA-256 of the hub's current file, the base of a push; undefined when there is none. */
function currentOf({ remote }: ComparedFile): string | undefined {
  return remote === undefined || remote.deleted ? undefined : remote.sha256;
}

function kindOf({ local, remote }: ComparedFile): 'edit/edit' | 'edit/delete' | 'delete/edit' {
  if (local === undefined) return 'delete/edit';
  return remote?.deleted === true ? 'edit/delete' : 'edit/edit';
}
