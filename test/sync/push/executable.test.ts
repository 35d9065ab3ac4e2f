/** The execute bit and the mtime of a file: kept with each version and told wherever a file is. */
import { expect, test } from 'vitest';
import { linesOf, NDJSON, post, toolRequest } from '../../support/gateway.ts';
import { clockAt, type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ verified: true });
const MTIME = '2026-11-20T20:18:57.123Z';
const SCRIPT = '#!/bin/sh\n';
const BASE = { base_sha: sha256Of(SCRIPT) };

async function withScript(): Promise<Device> {
  const device = await newDevice(hub);
  await device.push('run.sh', SCRIPT, { executable: true, mtime: MTIME });
  return device;
}

test('[SYN-1] executable and mtime are told by every tool that tells of a file', async () => {
  const device = await withScript();
  const told = { executable: true, remote_mtime: MTIME };
  expect(await device.result('sync_pull', { path: 'run.sh' })).toMatchObject(told);
  expect(await device.result('sync_pull', { initial: true })).toMatchObject({ files: [told] });
  expect(await device.result('sync_list', {})).toMatchObject({ files: [told] });
  expect(await device.result('sync_history', { path: 'run.sh' })).toMatchObject({ versions: [told] });
  expect(await device.result('sync_diff', { path: 'run.sh', sha256: sha256Of('x') })).toMatchObject({ remote: told });
  const headers = { Accept: NDJSON, Authorization: `McpKey ${device.key}` };
  const lines = linesOf(await post(hub, toolRequest(1, 'sync_pull', { initial: true }), headers));
  expect(lines[1]).toMatchObject(told);
});

test('[SYN-1] a push that changes only the execute bit is a new version; one that does not say leaves it', async () => {
  const device = await withScript();
  expect(await device.push('run.sh', SCRIPT, { executable: true })).toMatchObject({ status: 'unchanged' });
  expect(await device.push('run.sh', SCRIPT, {})).toMatchObject({ status: 'unchanged', executable: true });
  const off = await device.push('run.sh', SCRIPT, { executable: false, ...BASE });
  expect(off).toMatchObject({ status: 'updated', executable: false, seq: 2 });
  const on = await device.push('run.sh', SCRIPT, { executable: true });
  expect(on).toMatchObject({ status: 'updated', executable: true, seq: 3 });
  expect(await device.push('run.sh', 'new', BASE)).toMatchObject({ status: 'updated', executable: true });
  expect(await device.push('plain.txt', 'x')).toMatchObject({ executable: false });
  expect(await device.result('sync_restore', { path: 'run.sh', seq: 2 })).toMatchObject({ executable: false });
  expect(await device.result('sync_restore', { path: 'run.sh', seq: 3 })).toMatchObject({
    status: 'restored',
    executable: true,
  });
});

test('[SYN-1] the same bytes from a device that is behind change no bit, and are no conflict', async () => {
  const device = await withScript();
  const late = { executable: false, base_sha: sha256Of('older') };
  expect(await device.push('run.sh', SCRIPT, late)).toMatchObject({ status: 'unchanged', executable: true });
  const before = { executable: false, hlc: clockAt(Date.now() - 10 * 86_400_000) };
  expect(await device.push('run.sh', SCRIPT, before)).toMatchObject({ status: 'unchanged', executable: true });
});

test('[SYN-5] a conflict keeps the execute bit of the refused push', async () => {
  const device = await withScript();
  const refused = await device.refusedPush('run.sh', 'mine', { executable: false, base_sha: sha256Of('older') });
  await device.push('run.sh', 'hub', { ...BASE, device_id: 'phone' });
  const args = { conflict_id: refused.data['conflict_id'], keep: 'yours' };
  await device.result('sync_resolve_conflict', args);
  const now = await device.result('sync_list', {});
  expect(now).toMatchObject({ files: [{ sha256: sha256Of('mine'), executable: false }] });
});

test('[SYN-1] with base_sha no clock is needed, and the device is named as the key is', async () => {
  const device = await newDevice(hub);
  const plain = { hlc: undefined, device_id: undefined };
  const made = await device.push('a.md', 'one', { ...plain, base_sha: '' });
  expect(made.hlc).toMatch(/^20\d\d-.*Z-[0-9A-F]{4}-[0-9a-f]{16}$/);
  expect(await device.result('sync_list', {})).toMatchObject({ files: [{ device_id: 'first key' }] });
  const next = await device.push('a.md', 'two', { ...plain, base_sha: made.sha256 });
  expect(next).toMatchObject({ status: 'updated', previous_hlc: made.hlc, warnings: [] });
  expect(next.hlc > made.hlc).toBe(true);
  const refused = await device.refusedPush('a.md', 'three', { ...plain, base_sha: made.sha256 });
  expect(refused).toMatchObject({ code: -32006, data: { server_hlc: next.hlc } });
  expect(await device.refusedPush('a.md', 'four', { hlc: undefined })).toMatchObject({
    code: -32006,
    data: { base_sha: next.sha256 },
  });
});
