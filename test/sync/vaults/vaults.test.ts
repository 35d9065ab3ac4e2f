/** Vaults, protected paths, the quota and clocks that run ahead, from outside. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hub, startHub } from '../../support/hub.ts';
import { verified } from '../../support/mirror-state.ts';
import { clockAt, Device, newDevice, sha256Of } from '../../support/sync.ts';

interface Vault {
  readonly vault_id: string;
  readonly name: string;
  readonly is_primary: boolean;
  readonly file_count: number;
  readonly total_size_bytes: number;
  readonly last_synced_at: string | null;
  readonly pending_conflicts: number;
}

const QUOTA_BYTES = 1000;
let hub: Hub;

beforeAll(async () => {
  hub = await startHub({ env: { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) } });
});
afterAll(async () => {
  await hub.stop();
  expect((await verified(hub)).problems).toEqual([]);
});

const vaultsOf = async (device: Device) =>
  (await device.result<{ vaults: Vault[]; count: number }>('vault_list', {})).vaults;

test.each([
  ['turns the text around', 'notes\u202egpj.exe'],
  ['isolates it', 'a\u2066b\u2069'],
  ['has no width', 'no\u200btes'],
  ['is a byte order mark', '\ufeffa\ufeffb'],
  ['is a control character', 'a\u0007b'],
])('[SYN-15, SYN-18] a vault is not named with a character that %s', async (_, name) => {
  const device = await newDevice(hub);
  await expect(device.result('vault_create', { name })).rejects.toThrow('bidi or zero-width');
  for (const good of ['Ноты', 'می‌خواهم', '👩‍💻 work']) {
    expect(await device.result('vault_create', { name: `${good} ${crypto.randomUUID().slice(0, 8)}` })).toBeDefined();
  }
});

test('[SYN-18] the primary vault is made on first use, once, also by calls that run at once', async () => {
  const device = await newDevice(hub);
  expect(await vaultsOf(device)).toEqual([]);
  const made = await Promise.all([1, 2, 3, 4].map((n) => device.push(`${n}.txt`, `${n}`)));
  expect(new Set(made.map(({ vault_id: id }) => id)).size).toBe(1);
  const [vault, ...rest] = await vaultsOf(device);
  expect(rest).toEqual([]);
  expect(vault).toMatchObject({ is_primary: true, file_count: 4, total_size_bytes: 4, pending_conflicts: 0 });
  expect(vault?.last_synced_at).toBe(
    made
      .map(({ stored_at: at }) => at)
      .toSorted()
      .at(-1),
  );
});

test('[SYN-18] vault_create gives an existing one back; vaults keep their files apart', async () => {
  const device = await newDevice(hub);
  const made = await device.result('vault_create', { name: ' Notes ' });
  expect(made).toMatchObject({ name: 'Notes', status: 'created', protected_paths: null });
  expect(await device.result('vault_create', { name: 'notes' })).toEqual({ ...made, status: 'existing' });
  const { vault_id } = made;
  expect(await device.push('a.txt', 'in notes', { vault_id })).toMatchObject({ vault_id, seq: 1 });
  expect(await device.push('a.txt', 'in primary')).toMatchObject({ status: 'created', seq: 1 });
  expect((await vaultsOf(device)).map(({ name, file_count: count }) => [name, count])).toEqual([
    ['Notes', 1],
    ['primary', 1],
  ]);
  for (const name of ['', '   ', 'a\u0000', 'n'.repeat(101)]) {
    expect(await device.refusal('vault_create', { name })).toMatchObject({ code: -32602, data: { field: 'name' } });
  }
});

test('[SYN-18, KEY-5] a vault of another account answers as one that is not there', async () => {
  const owner = await newDevice(hub);
  const { vault_id } = await owner.push('secret.txt', 'x');
  const stranger = await newDevice(hub);
  const foreign = await stranger.refusedPush('secret.txt', 'y', { vault_id });
  const unknown = await stranger.refusedPush('secret.txt', 'y', { vault_id: 'v_0123456789abcdef' });
  expect(foreign).toEqual(unknown);
  expect(foreign).toMatchObject({ code: -32602, data: { field: 'vault_id' } });
});

test('[SYN-16] a protected file that exists changes only with base_sha, and the refusal names it', async () => {
  const device = await newDevice(hub);
  await device.push('sub/CLAUDE.md', 'rules');
  const refused = await device.refusedPush('sub/CLAUDE.md', 'other rules');
  expect(refused).toMatchObject({ code: -32602, data: { field: 'base_sha', current_sha: sha256Of('rules') } });
  expect(refused.message).toContain(sha256Of('rules'));
  expect(await device.push('sub/CLAUDE.md', 'new', { base_sha: sha256Of('rules') })).toMatchObject({
    status: 'updated',
  });
  expect(await device.refusedPush('sub/CLAUDE.md', 'x', { base_sha: sha256Of('rules') })).toMatchObject({
    code: -32006,
  });
});

test('[SYN-16] a vault has its own list when it sets one', async () => {
  const device = await newDevice(hub);
  const { vault_id } = await device.result('vault_create', { name: 'own', protected_paths: ['*.lock', '/conf/**'] });
  const changed = async (path: string) => {
    await device.push(path, 'one', { vault_id });
    return (await device.call('sync_push', device.pushOf(path, 'two', { vault_id }))).error?.code ?? 0;
  };
  expect(await changed('a/b.lock')).toBe(-32602);
  expect(await changed('conf/x')).toBe(-32602);
  expect(await changed('a/conf/x')).toBe(0);
  expect(await changed('CLAUDE.md')).toBe(0);
  const updated = await device.result('vault_create', { name: 'own', protected_paths: null });
  expect(updated).toMatchObject({ vault_id, status: 'updated', protected_paths: null });
  expect((await device.refusedPush('CLAUDE.md', 'three', { vault_id })).data['field']).toBe('base_sha');
});

test('[SYN-21, SYN-2] the quota holds at the byte, over all vaults of an account and over a restart', async () => {
  const device = await newDevice(hub);
  const { vault_id } = await device.result('vault_create', { name: 'second' });
  await device.push('a', 'a'.repeat(600));
  await device.push('b', 'b'.repeat(399), { vault_id });
  const over = await device.refusedPush('c', 'cc');
  expect(over).toMatchObject({ code: -32004, data: { quota_bytes: QUOTA_BYTES, used_bytes: 999, needed_bytes: 2 } });
  expect(await device.push('c', 'c')).toMatchObject({ status: 'created' });
  expect(await device.refusedPush('d', 'd')).toMatchObject({ code: -32004 });
  expect(await device.push('empty', '')).toMatchObject({ status: 'created' });
  expect(await device.push('c', 'c')).toMatchObject({ status: 'unchanged' });
  await hub.stop();
  hub = await startHub({ dataFolder: hub.dataFolder, env: { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) } });
  const after = new Device(hub, device.key);
  after.ms = device.ms;
  expect(await after.refusedPush('d', 'd')).toMatchObject({ code: -32004 });
  expect(await after.push('a', 'a'.repeat(599))).toMatchObject({ status: 'updated' });
  expect(await after.push('d', 'd')).toMatchObject({ status: 'created' });
  // A refused push is kept, and what is kept counts.
  expect(await after.refusedPush('a', 'x', { hlc: clockAt(1000) })).toMatchObject({ code: -32004 });
  await after.result('sync_push', after.deleteOf('d', { base_sha: sha256Of('d') }));
  expect(await after.refusedPush('a', 'x', { hlc: clockAt(1000) })).toMatchObject({ code: -32006 });
  expect(await after.refusedPush('e', 'e')).toMatchObject({ code: -32004 });
});

test('[SYN-7] numbers, stored_at and clocks of the hub rise over a restart too', async () => {
  const device = await newDevice(hub);
  const old = clockAt(5000);
  const first = await device.push('a', 'one');
  const second = await device.push('a', 'two', { base_sha: first.sha256, hlc: old });
  await hub.stop();
  hub = await startHub({ dataFolder: hub.dataFolder });
  const third = await new Device(hub, device.key).push('a', 'three', { base_sha: second.sha256, hlc: old });
  expect([first.seq, second.seq, third.seq]).toEqual([1, 2, 3]);
  expect(first.stored_at < second.stored_at && second.stored_at < third.stored_at).toBe(true);
  expect(second.hlc < third.hlc).toBe(true);
});

test('[HLC-2] a clock more than five minutes ahead is never adopted', async () => {
  const device = await newDevice(hub);
  const ahead = () => clockAt(Date.now() + 3_600_000);
  const made = await device.push('new.txt', 'one', { hlc: ahead() });
  expect(made.warnings).toEqual([expect.stringMatching(/clock is 3[56]\d\d(\.\d+)? s ahead/)]);
  expect(Date.parse(made.hlc.slice(0, 24))).toBeLessThan(Date.now() + 60_000);
  const refused = await device.refusedPush('new.txt', 'two', { hlc: ahead() });
  expect(refused).toMatchObject({
    code: -32602,
    data: { field: 'hlc', skew_seconds: expect.any(Number), server_time: expect.any(String), max_drift_seconds: 300 },
  });
  const guarded = await device.push('new.txt', 'two', { hlc: ahead(), base_sha: made.sha256 });
  expect(guarded).toMatchObject({ status: 'updated', warnings: [expect.stringMatching(/ahead/)] });
  expect(guarded.hlc > made.hlc).toBe(true);
  expect(await device.push('new.txt', 'three', { hlc: clockAt(Date.now() + 60_000) })).toMatchObject({ warnings: [] });
});

test('[HLC-1] a client gets its own clock back as it wrote it, and another form is refused with the expected one', async () => {
  const device = await newDevice(hub);
  const now = Date.now();
  const forms = [
    `${now}-00000-node1`,
    String(now),
    `${new Date(now).toISOString()}-000a-My.Node`,
    new Date(now).toISOString(),
  ];
  for (const [index, hlc] of forms.entries()) {
    expect(await device.push(`${index}.txt`, 'x', { hlc })).toMatchObject({ hlc, warnings: [] });
  }
  for (const hlc of ['', 'soon', '2026-11-20', 'x'.repeat(129)]) {
    const refused = await device.refusedPush('no.txt', 'x', { hlc });
    expect(refused).toMatchObject({ code: -32602, data: { field: 'hlc' } });
  }
  expect((await device.refusedPush('no.txt', 'x', { hlc: 'soon' })).message).toContain(
    '2026-11-20T20:18:57.123Z-0000-',
  );
});

test('[HLC-2] an old clock is never refused for its age', async () => {
  const device = await newDevice(hub);
  expect(await device.push('old.txt', 'x', { hlc: '000000000000200-00000-node1' })).toMatchObject({
    status: 'created',
    hlc: '000000000000200-00000-node1',
    warnings: [],
  });
});
