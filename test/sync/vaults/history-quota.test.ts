/** What earlier versions may take: counted as they come and go, bounded, and freed by the person whose they are. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PASSWORD, structured } from '../../support/gateway.ts';
import type { Hub } from '../../support/hub.ts';
import { until, verified } from '../../support/mirror-state.ts';
import { PageClient } from '../../support/page-client.ts';
import { Device } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const KiB = 1024;
const QUOTA_BYTES = 1024 * KiB;

const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);

const hub = useHub({
  env: { CAIRN_HISTORY_QUOTA_BYTES: String(QUOTA_BYTES), CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0' },
});

/** Somebody new, with a device and a browser. */
async function arrive(at: Hub) {
  const email = `${randomBytes(6).toString('hex')}@example.org`;
  const who = await structured<{ email: string; mcp_key: string }>(at, 'signup_and_get_key', {
    email,
    password: PASSWORD,
  });
  const device = new Device(at, who.mcp_key);
  const page = new PageClient(at);
  await page.open('/signin');
  await page.submit('/signin', { email: who.email, password: PASSWORD });
  const used = async () => {
    const { stdout } = await at.cli('account', 'show', '--email', who.email, '--json');
    return (JSON.parse(stdout) as { used_bytes: { files: number; history: number } }).used_bytes;
  };
  return { ...who, device, page, used };
}

/** Overwrites a file until the hub refuses; the number of versions that it took. */
async function flood(device: Device, path: string, bytes: number): Promise<number> {
  for (let count = 0; count < 200; count += 1) {
    const { error } = await device.call('sync_push', device.pushOf(path, randomBytes(bytes / 2).toString('hex')));
    if (error !== undefined) {
      expect(error).toMatchObject({
        code: -32004,
        message: expect.stringContaining('delete earlier versions on the page of a vault'),
        data: { quota_bytes: QUOTA_BYTES },
      });
      return count;
    }
  }
  throw new Error('the flood never ended');
}

test('[SYN-21] overwriting one file over and over ends at the quota of earlier versions, and deleting them goes on', async () => {
  const { device, page, used } = await arrive(hub);
  expect(await flood(device, 'big.txt', 100 * KiB)).toBe(11);
  expect(await used()).toEqual({ blobs: 0, documents: 0, files: 100 * KiB, history: 10 * 100 * KiB + 11 * KiB });
  // The same bytes again, and reading, take no room.
  const [{ sha256 }] = (await device.result<{ files: [{ sha256: string }] }>('sync_list', {})).files;
  const { content } = await device.result<{ content: string }>('sync_pull', { path: 'big.txt' });
  expect(await device.push('big.txt', content)).toMatchObject({ status: 'unchanged', sha256 });
  // A delete moves bytes from one quota to the other; it is never refused, and makes no room by itself.
  await device.result('sync_push', device.deleteOf('big.txt', { base_sha: sha256 }));
  expect(await device.refusedPush('other.txt', 'x')).toMatchObject({ code: -32004 });
  // The way out that the refusal names.
  const { vaults } = await device.result<{ vaults: [{ vault_id: string; name: string }] }>('vault_list', {});
  const [{ vault_id: vaultId, name }] = vaults;
  await page.open(`/vaults/${vaultId}`);
  expect((await page.submit(`/vaults/${vaultId}/history`, { days: '0', name: 'other' })).status).toBe(422);
  await page.submit(`/vaults/${vaultId}/history`, { days: '30', name });
  expect(page.text).toContain('0 earlier versions were deleted');
  await page.submit(`/vaults/${vaultId}/history`, { days: '0', name });
  expect(page.text).toContain('11 earlier versions were deleted permanently.');
  expect(await used()).toMatchObject({ files: 0, history: KiB });
  expect(await device.push('other.txt', 'x')).toMatchObject({ status: 'created' });
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [] });
});

test('[SYN-21] creating and deleting, tiny files and settled conflicts end at the quota too', async () => {
  const { device, used } = await arrive(hub);
  const cycle = async (): Promise<boolean> => {
    const text = randomBytes(50 * KiB).toString('hex');
    const { error, result } = await device.call('sync_push', device.pushOf('a.txt', text));
    if (error !== undefined) return false;
    const { sha256 } = (result?.['structuredContent'] ?? {}) as { sha256: string };
    await device.result('sync_push', device.deleteOf('a.txt', { base_sha: sha256 }));
    return true;
  };
  let cycles = 0;
  while (await cycle()) cycles += 1;
  expect(cycles).toBeLessThan(12);

  const tiny = await arrive(hub);
  for (const round of ['a', 'b']) {
    const files = Array.from({ length: 1000 }, (_, at) => tiny.device.pushOf(`${round}/${at}.txt`, ''));
    const { results } = await tiny.device.result<{ results: { status: string }[] }>('sync_push_many', { files });
    expect(results.filter(({ status }) => status === 'created')).toHaveLength(round === 'a' ? 1000 : 24);
  }
  expect(await tiny.used()).toMatchObject({ files: 0, history: 1024 * KiB });

  const third = await arrive(hub);
  await third.device.push('c.txt', 'first');
  let kept = 0;
  for (let count = 0; count < 40; count += 1) {
    const text = randomBytes(50 * KiB).toString('hex');
    const { code } = await third.device.refusedPush('c.txt', text, { base_sha: '0'.repeat(64) });
    if (code === -32004) break;
    expect(code).toBe(-32006);
    kept += 1;
  }
  expect(kept).toBeLessThan(12);
  // A delete that conflicts holds no bytes: it is told as a conflict, and nothing is kept of it.
  const wrong = await third.device.call('sync_push', third.device.deleteOf('c.txt', { base_sha: '0'.repeat(64) }));
  expect(wrong.error).toMatchObject({ code: -32006 });
  expect((await used()).history).toBeLessThanOrEqual(QUOTA_BYTES + 101 * KiB);
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [] });
});

test('[SYN-21, OPS-7] a deleted vault and a deleted account give their earlier versions back; the operator gives more', async () => {
  const { device, email, used } = await arrive(hub);
  await flood(device, 'big.txt', 100 * KiB);
  const { vaults } = await device.result<{ vaults: [{ vault_id: string; name: string }] }>('vault_list', {});
  const [{ vault_id, name }] = vaults;
  await device.result('vault_delete', { vault_id, confirm: name });
  expect(await used()).toMatchObject({ files: 0, history: 0 });
  await flood(device, 'big.txt', 100 * KiB);
  expect((await hub.cli('account', 'quota', '--email', email, '--history', '3MiB')).stdout).toContain('of 3.0 MiB');
  expect(await device.push('big.txt', 'more')).toMatchObject({ status: 'updated' });
  await hub.cli('account', 'delete', '--email', email, '--confirm', email);
  await until('all is removed', async () => {
    const { staged_uploads: staged, ok } = await verified(hub);
    return ok === true && staged === 0 ? true : undefined;
  });
});

test(`[SYN-21, OPS-6] whatever is written, restored, settled, deleted and cleared, the use shown is what a recount gives (FC_SEED=${seed})`, async () => {
  const act = fc.record({
    what: fc.constantFrom('push', 'push', 'push', 'delete', 'rename', 'restore', 'conflict', 'settle', 'clear'),
    path: fc.constantFrom('a.txt', 'b.txt', 'c.txt'),
    bytes: fc.constantFrom(0, 10, 5 * KiB, 90 * KiB),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async (acts) => {
      const { device, page, used } = await arrive(hub);
      await device.push('seed.txt', 'seed');
      const { vaults } = await device.result<{ vaults: [{ vault_id: string; name: string }] }>('vault_list', {});
      const [{ vault_id: vaultId, name }] = vaults;
      for (const { what, path, bytes } of acts) {
        const { files } = await device.result<{ files: { path: string; sha256: string; seq: number }[] }>(
          'sync_list',
          {},
        );
        const live = files.find((file) => file.path === path);
        const text = randomBytes(bytes / 2).toString('hex');
        if (what === 'push') await device.call('sync_push', device.pushOf(path, text));
        if (what === 'delete') await device.call('sync_push', device.deleteOf(path, { base_sha: live?.sha256 }));
        if (what === 'conflict')
          await device.call('sync_push', device.pushOf(path, text, { base_sha: '1'.repeat(64) }));
        if (what === 'restore') await device.call('sync_restore', { path, seq: live?.seq ?? 1 });
        if (what === 'rename') {
          const more = { from_path: path, base_sha: live?.sha256, content: undefined, sha256: undefined };
          await device.call('sync_push', device.pushOf(`moved/${path}`, '', more));
        }
        if (what === 'settle') {
          const { conflicts } = await device.result<{ conflicts: { conflict_id: string }[] }>(
            'sync_pending_conflicts',
            {},
          );
          const keep = bytes > 100 ? 'yours' : 'theirs';
          for (const { conflict_id } of conflicts) await device.call('sync_resolve_conflict', { conflict_id, keep });
        }
        if (what === 'clear') {
          await page.open(`/vaults/${vaultId}`);
          await page.submit(`/vaults/${vaultId}/history`, { days: '0', name });
        }
      }
      // Verify holds every counter against a recount of the log itself.
      expect(await verified(hub)).toMatchObject({ ok: true, problems: [] });
      expect((await used()).history).toBeGreaterThan(0);
    }),
    { numRuns: 4, seed },
  );
});
