/** A conflict of large sides is shown with what tells them apart, and settled without a text: one side, the other, or both. */
import { expect, test } from 'vitest';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { type LargeFiles, largeBytes, largeFilesOf } from '../../support/large-files.ts';
import { PageClient } from '../../support/page-client.ts';
import { Device, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true, env: { CAIRN_RATE_LIMIT: '0' } });
const EMAIL = 'large@example.org';

interface Opened {
  readonly content: string | null;
  readonly sha256?: string;
}

async function refused(large: LargeFiles, path: string, [base, now, pushed]: readonly Buffer[]): Promise<string> {
  if (base === undefined || now === undefined || pushed === undefined)
    throw new Error('three versions make a conflict');
  const first = await large.push(path, base);
  await large.push(path, now, { base_sha: first.sha256 });
  await large.sendMissing(pushed);
  const args = { vault_id: large.vaultId, ...large.pushOf(path, pushed, { base_sha: first.sha256 }) };
  return String((await large.device.refusal('sync_push', args)).data['conflict_id']);
}

test('[SYN-38, SYN-14] an agent and a person see large sides, and keep one or both', async () => {
  const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', {
    email: EMAIL,
    password: PASSWORD,
  });
  const device = new Device(hub, key);
  const large = await largeFilesOf(device);
  const versions = [largeBytes(11), largeBytes(11), largeBytes(12)];
  const [, now = Buffer.alloc(0), pushed = Buffer.alloc(0)] = versions;
  const id = await refused(large, 'film.mp4', versions);

  const seen = await device.result<Opened>('read', { id: `cairn://conflicts/${id}` });
  expect(seen.content).toContain(`${now.length} bytes, sha256 ${sha256Of(now)}`);
  expect(seen.content).toContain(`${pushed.length} bytes, sha256 ${sha256Of(pushed)}`);
  expect(await device.result<Opened>('read', { id: 'film.mp4' })).toMatchObject({
    content: null,
    sha256: sha256Of(now),
    size_bytes: now.length,
  });

  const page = new PageClient(hub);
  await page.open('/signin');
  await page.submit('/signin', { email: EMAIL, password: PASSWORD });
  const at = `/vaults/${large.vaultId}/conflicts/${id}`;
  const shown = await page.open(at);
  for (const told of [sha256Of(now), sha256Of(pushed), '12.0 MiB', 'Keep both']) expect(shown.text).toContain(told);
  expect((await page.open(`${at}/yours`)).bytes.equals(pushed)).toBe(true);
  expect((await page.open(`${at}/theirs`)).bytes.equals(now)).toBe(true);
  await page.open(at);
  await page.submit(at, { keep: 'both', base: sha256Of(now) });
  const { files } = await device.result<{ files: { path: string; sha256: string }[] }>('sync_list', {});
  const copy = files.find(({ path }) => path.startsWith('film (conflict '));
  expect(copy?.sha256).toBe(sha256Of(pushed));
  expect((await large.read('film.mp4')).equals(now)).toBe(true);
  expect((await large.read(copy?.path ?? '')).equals(pushed)).toBe(true);

  const kept = await refused(large, 'a.bin', versions);
  expect(await device.result('settle_conflict', { id: `cairn://conflicts/${kept}`, keep: 'pushed' })).toMatchObject({
    path: 'a.bin',
  });
  expect((await large.read('a.bin')).equals(pushed)).toBe(true);
  const both = await refused(large, 'b.bin', versions);
  const settled = await device.result<{ copies: string[] }>('sync_resolve_conflict', {
    conflict_id: both,
    keep: 'both',
  });
  expect((await large.read(settled.copies[0] ?? '')).equals(pushed)).toBe(true);
  expect(await device.result('sync_pending_conflicts', {})).toMatchObject({ count: 0 });
});
