/** Defines the archive records of a vault: the vault, its devices, its log as returned by pulls, its conflicts. */
import { z } from 'zod';
import { gitShaHex, type Instant, id, instantUpTo, sha256Hex, text, whole } from '../../archive/records.ts';
import { limits } from '../../limits/service.ts';
import { parseIsoMs } from '../../time/iso-time.ts';
import { isPlainText } from '../push/input.ts';
import { VAULT_ID } from '../vaults/vaults.ts';

const NO_CONTROL = 'must not contain control characters';

const path = text(limits.pathBytesMax);
const hlc = text(limits.hlcCharsMax);
const deviceId = text(limits.deviceIdCharsMax).min(1).refine(isPlainText, NO_CONTROL);
const mtime = text(limits.isoTimeCharsMax)
  .refine((value) => parseIsoMs(value) !== undefined, 'must be ISO 8601 with a zone')
  .nullable();

/** Content: in the line, or in the archive's blobs under its SHA-256. */
const contentMembers = { content: z.string().optional(), content_in_blobs: z.literal(true).optional() };

/** The fields common to files and deletions. */
const versionMembers = (instant: Instant) => ({
  seq: id,
  path,
  sha256: sha256Hex,
  git_sha: gitShaHex,
  hlc,
  stored_at: instant,
  device_id: deviceId,
  remote_mtime: mtime,
});

const vaultSchema = (instant: Instant) =>
  z.strictObject({
    type: z.literal('vault'),
    vault_id: z.string().regex(VAULT_ID),
    name: text(limits.vaultNameCharsMax)
      .min(1)
      .refine((name) => isPlainText(name) && name === name.trim(), NO_CONTROL),
    is_primary: z.boolean(),
    created_at: instant,
    protected_paths: z.array(text(limits.globCharsMax).min(1)).max(limits.protectedGlobsMax).nullable(),
    /** The hub's clock of the vault. */
    clock_at: instant,
    clock_counter: whole.max(0xffff),
  });

const conflictSchema = (instant: Instant) =>
  z.strictObject({
    type: z.literal('conflict'),
    conflict_id: z.string().regex(/^c_[0-9a-f]{16}$/),
    path,
    kind: z.enum(['edit/edit', 'edit/delete', 'delete/edit', 'create/create']),
    status: z.enum(['pending', 'resolved', 'superseded', 'dismissed']),
    device_id: deviceId,
    your_sha256: sha256Hex.nullable(),
    your_git_sha: gitShaHex.nullable(),
    your_hlc: hlc,
    size_bytes: whole.max(limits.largeFileBytesMax),
    encoding: z.enum(['utf-8', 'base64', 'chunks']),
    mtime,
    executable: z.boolean().optional(),
    server_seq: whole,
    server_sha256: sha256Hex.nullable(),
    server_git_sha: gitShaHex.nullable(),
    server_hlc: hlc.nullable(),
    base_sha: z.union([sha256Hex, gitShaHex]).nullable(),
    detected_at: instant,
    settled_at: instant.nullable(),
    settled_seq: whole.nullable(),
    ...contentMembers,
  });

/** Schema of the records. Each vault is followed by its devices, then its log in order, then its conflicts. */
export const vaultRecordSchema = (latestMs: number) => {
  const instant = instantUpTo(latestMs);
  return z.discriminatedUnion('type', [
    vaultSchema(instant),
    z.strictObject({
      type: z.literal('device'),
      device_id: deviceId,
      last_seen_at: instant,
      pulled_seq: whole,
      pushed_seq: whole,
    }),
    z.strictObject({
      type: z.literal('file'),
      ...versionMembers(instant),
      size_bytes: whole.max(limits.largeFileBytesMax),
      status: z.enum(['created', 'updated', 'renamed', 'restored']),
      executable: z.literal(true).optional(),
      renamed_from: path.optional(),
      encoding: z.enum(['base64', 'chunks']).optional(),
      ...contentMembers,
    }),
    z.strictObject({
      type: z.literal('deleted'),
      ...versionMembers(instant),
      size_bytes: z.literal(0),
      deleted_at: instant,
      status: z.literal('deleted'),
      renamed_from: path.optional(),
    }),
    conflictSchema(instant),
  ]);
};

export type VaultArchiveRecord = z.infer<ReturnType<typeof vaultRecordSchema>>;
export type VaultLine = Extract<VaultArchiveRecord, { type: 'vault' }>;
export type FileLine = Extract<VaultArchiveRecord, { type: 'file' }>;
export type DeletedLine = Extract<VaultArchiveRecord, { type: 'deleted' }>;
export type ConflictLine = Extract<VaultArchiveRecord, { type: 'conflict' }>;
export type DeviceLine = Extract<VaultArchiveRecord, { type: 'device' }>;
