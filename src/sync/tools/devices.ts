/** Defines the tools of a device: starting a copy of a vault, and the sync state of a vault and its devices. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { defineTool, READS } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { changesBehind } from '../devices/behind.ts';
import { cursorAt } from '../pull/cursor.ts';
import { deviceIdArgument, vaultIdArgument } from '../push/input.ts';
import type { SyncReading } from '../reading.ts';

export function vaultClone(reading: SyncReading) {
  return defineTool({
    name: 'vault_clone',
    title: 'Start a copy of a vault',
    access: 'account',
    description: 'Returns what a new device needs to copy a vault: sizes, a cursor and the next call.',
    input: z.strictObject({
      vault_id: vaultIdArgument,
      name: z.string().trim().min(1).max(limits.vaultNameCharsMax).optional().describe('Instead of vault_id'),
      device_id: deviceIdArgument.optional(),
    }),
    output: z.object({
      vault_id: z.string(),
      name: z.string(),
      file_count: z.int().nonnegative(),
      total_size_bytes: z.int().nonnegative(),
      stream_bytes: z.int().nonnegative().describe('Approximate bytes of the whole vault as NDJSON'),
      cursor: z.string().describe('Current position of the vault; an initial pull returns one too'),
      next: z.object({ tool: z.literal('sync_pull'), arguments: z.record(z.string(), z.unknown()) }),
      server_time: z.string(),
    }),
    annotations: READS,
    example: { name: 'notes', device_id: 'phone' },
    async handle({ vault_id: given, name, device_id: device }, { accountId }) {
      const vaultId = await vaultOf(reading, accountId, given, name);
      const head = reading.reader.head(vaultId);
      const record = reading.vaults.record(accountId, vaultId);
      const call = { vault_id: vaultId, initial: true, ...(device === undefined ? {} : { device_id: device }) };
      const structured = {
        vault_id: vaultId,
        name: record.name,
        file_count: head.files,
        total_size_bytes: head.bytes,
        stream_bytes: head.line_bytes,
        cursor: cursorAt(reading, vaultId, head.seq),
        next: { tool: 'sync_pull' as const, arguments: call },
        server_time: new Date(reading.now()).toISOString(),
      };
      const text = `vault ${record.name} (${vaultId}) has ${head.files} files of ${head.bytes} bytes; cursor ${structured.cursor}; now call sync_pull ${JSON.stringify(call)}`;
      return { structured, text };
    },
  });
}

async function vaultOf(
  { vaults }: SyncReading,
  accountId: string,
  vaultId: string | undefined,
  name: string | undefined,
) {
  if (name === undefined) return await vaults.idOf(accountId, vaultId);
  if (vaultId !== undefined) throw invalidField('name', 'send vault_id or name, not both');
  return vaults.named(accountId, name).id;
}

const deviceSchema = z.object({
  device_id: z.string(),
  last_seen_at: z.string().describe('To the minute, ISO 8601 UTC'),
  pulled_seq: z.int().nonnegative().describe('Position it has pulled up to; 0: never pulled'),
  pushed_seq: z.int().nonnegative(),
  changes_behind: z.int().nonnegative().describe('Changes of other devices that it has not pulled yet'),
});

export function vaultConnectStatus(reading: SyncReading) {
  return defineTool({
    name: 'vault_connect_status',
    title: 'Show the devices of a vault',
    access: 'account',
    description:
      'Shows the devices of a vault: when each was last seen, how many changes it lacks, and its pending conflicts.',
    input: z.strictObject({
      device_id: deviceIdArgument.optional().describe('Only this device'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      name: z.string(),
      connected: z.boolean().describe('Whether the device (or any, if none is named) has synced before'),
      devices: z.array(deviceSchema),
      seq: z.int().nonnegative().describe('Number of the newest change'),
      file_count: z.int().nonnegative(),
      pending_conflicts: z.int().nonnegative(),
      last_synced_at: z.string().nullable(),
      cursor: z.string().describe('Current position of the vault'),
      server_time: z.string(),
    }),
    annotations: READS,
    example: { device_id: 'laptop' },
    async handle({ device_id: only, vault_id: given }, { accountId }) {
      const vaultId = await reading.vaults.idOf(accountId, given);
      // Unpacked versions are read one by one, so a long tail is packed first.
      await reading.packer.settle(vaultId);
      const head = reading.reader.head(vaultId);
      const devices = devicesOf(reading, vaultId, only);
      const { name } = reading.vaults.record(accountId, vaultId);
      const structured = {
        vault_id: vaultId,
        name,
        connected: devices.length > 0,
        devices,
        seq: head.seq,
        file_count: head.files,
        pending_conflicts: head.pending,
        last_synced_at: head.seq === 0 ? null : new Date(head.stored_ms).toISOString(),
        cursor: cursorAt(reading, vaultId, head.seq),
        server_time: new Date(reading.now()).toISOString(),
      };
      const { file_count: files, pending_conflicts: pending, cursor } = structured;
      const first = `vault ${name} (${vaultId}) is at #${head.seq}: ${plural(files, 'file')}, ${plural(pending, 'pending conflict')}, ${plural(devices.length, 'device')}, cursor ${cursor}`;
      return { structured, text: headed(first, devices, deviceLine) };
    },
  });
}

function deviceLine({
  device_id: device,
  last_seen_at: seen,
  changes_behind: behind,
}: z.infer<typeof deviceSchema>): string {
  return `${device} last seen ${seen}, ${plural(behind, 'change')} behind`;
}

/** Returns the known devices of a vault, most recently seen first. */
export function devicesOf({ visits, views }: SyncReading, vaultId: string, only: string | undefined) {
  const known = [...visits.list(vaultId)].filter(([device]) => only === undefined || device === only);
  const positions = known.map(([device, record]) => ({ device, pulledSeq: record.pulled_seq }));
  const least = positions.reduce((seq, { pulledSeq }) => Math.min(seq, pulledSeq), Number.POSITIVE_INFINITY);
  const behind = known.length === 0 ? new Map<string, number>() : changesBehind(views.after(vaultId, least), positions);
  return known
    .sort(([, a], [, b]) => b.last_seen_ms - a.last_seen_ms)
    .map(([device, record]) => ({
      device_id: device,
      last_seen_at: new Date(record.last_seen_ms).toISOString(),
      pulled_seq: record.pulled_seq,
      pushed_seq: record.pushed_seq,
      changes_behind: behind.get(device) ?? 0,
    }));
}
