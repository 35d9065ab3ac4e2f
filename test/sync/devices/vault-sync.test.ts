/** How a device stands to a vault: what it needs to begin, how far it is behind, what is to be done about each file. */
import { expect, test } from 'vitest';
import { post, toolRequest, withKey } from '../../support/gateway.ts';
import { type Pulled, pull, pushMany, Replica, readStream } from '../../support/pull.ts';
import { seed } from '../../support/seed.ts';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

interface Status {
  readonly in_sync: number;
  readonly pull: { readonly path: string; readonly sha256: string }[];
  readonly push: { readonly path: string; readonly base_sha: string; readonly deleted: boolean }[];
  readonly delete: { readonly path: string }[];
  readonly conflict: { readonly path: string; readonly kind: string; readonly server_sha256: string | null }[];
  readonly refused: { readonly path: string; readonly reason: string }[];
  readonly has_more: boolean;
  readonly cursor: string;
}

interface Connection {
  readonly connected: boolean;
  readonly devices: { readonly device_id: string; readonly changes_behind: number; readonly pulled_seq: number }[];
  readonly pending_conflicts: number;
  readonly seq: number;
  readonly cursor: string;
}

const hub = useHub({ loudest: 30 });
let device: Device;
/** More devices than the other tests of this file have. */
const OTHERS = 50;

/** Numbers from 0 to 1 (mulberry32). */
function numbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const again = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32;
  };
}

const remove = (who: Device, path: string, content: string) =>
  who.result('sync_push', who.deleteOf(path, { base_sha: sha256Of(content) }));
const status = (who: Device, args: object) => who.result<Status>('vault_sync', { action: 'status', ...args });
const hashes = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, sha256Of(content)]));

test('[SYN-18] vault_clone says how much there is and what to call, and its cursor skips nothing', async () => {
  device = await newDevice(hub);
  const { vault_id } = await device.result<{ vault_id: string }>('vault_create', { name: 'Notes' });
  await device.push('a', '1', { vault_id });
  await device.push('b', '22', { vault_id });
  await remove(device, 'b', '22').catch(() => undefined);
  const clone = await device.result<Record<string, unknown>>('vault_clone', { name: ' notes ', device_id: 'new' });
  expect(clone).toMatchObject({ vault_id, name: 'Notes', file_count: 2, total_size_bytes: 3 });
  expect(await device.result('vault_clone', { vault_id })).toMatchObject({ vault_id, file_count: 2 });
  const next = clone['next'] as { tool: string; arguments: object };
  expect(next).toEqual({ tool: 'sync_pull', arguments: { vault_id, initial: true, device_id: 'new' } });
  await device.push('c', '333', { vault_id });
  const all = await device.result<Pulled>(next.tool, next.arguments);
  expect(all.files.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
  const later = await pull(device, { vault_id, cursor: clone['cursor'] });
  expect(later.files.map(({ path }) => path)).toEqual(['c']);
  expect(await device.result('vault_clone', {})).toMatchObject({ name: 'primary', file_count: 0, stream_bytes: 0 });
});

test.each([
  [{ name: 'nothing' }, 'name', /no vault/],
  [{ name: 'Notes', vault_id: 'v_0000000000000000' }, 'name', /not both/],
  [{ vault_id: 'v_0000000000000000' }, 'vault_id', /no vault/],
  [{ name: '' }, 'name', /must not be empty/],
])('[SYN-18] vault_clone refuses %j', async (args, field, sentence) => {
  const { code, data, message } = await device.refusal('vault_clone', args);
  expect([code, data['field']]).toEqual([-32602, field]);
  expect(message).toMatch(sentence);
});

test('[SYN-18] vault_connect_status shows each device, and how many changes of others it was not given', async () => {
  const laptop = await newDevice(hub);
  const phone = laptop.other('phone');
  const behind = async () => {
    const { devices } = await laptop.result<Connection>('vault_connect_status', {});
    return Object.fromEntries(devices.map((one) => [one.device_id, one.changes_behind]));
  };
  expect(await laptop.result<Connection>('vault_connect_status', {})).toMatchObject({
    connected: false,
    devices: [],
    seq: 0,
  });
  await pushMany(
    laptop,
    Array.from({ length: 10 }, (_, n) => ({ path: `f${n}`, content: `${n}` })),
  );
  await pull(phone, { initial: true, device_id: 'phone' });
  expect(await behind()).toEqual({ laptop: 0, phone: 0 });
  await laptop.push('f0', 'again');
  await laptop.push('f0', 'and again');
  await remove(laptop, 'f1', '1');
  await phone.push('own', 'x');
  expect(await behind()).toEqual({ laptop: 1, phone: 2 });
  const first = await pull(phone, { initial: true, device_id: 'phone', limit: 3 });
  expect(await behind()).toEqual({ laptop: 1, phone: 2 });
  await pull(phone, { cursor: first.cursor, device_id: 'phone' });
  await pull(laptop, { since: '2026-01-01', device_id: 'laptop' });
  expect(await behind()).toEqual({ laptop: 0, phone: 0 });
  const one = await laptop.result<Connection>('vault_connect_status', { device_id: 'tablet' });
  expect(one).toMatchObject({ connected: false, devices: [], seq: 14, pending_conflicts: 0 });
  expect(await pull(laptop, { cursor: one.cursor })).toMatchObject({ total_count: 0, deleted_count: 0 });
  const stranger = await newDevice(hub);
  const { vault_id } = await pull(laptop, { initial: true });
  expect(await stranger.refusal('vault_connect_status', { vault_id })).toMatchObject({ data: { field: 'vault_id' } });
});

test('[SYN-18, NET-11] a vault remembers 1,000 devices, however many names its pushes invent', async () => {
  const who = await newDevice(hub);
  await who.push('one.md', 'one');
  for (const round of [1, 2]) {
    const files = Array.from({ length: 1000 }, (_, at) =>
      who.pushOf('one.md', 'one', { device_id: `d${round}-${at}` }),
    );
    const { results } = await who.result<{ results: { status: string }[] }>('sync_push_many', { files });
    expect(results.every(({ status: done }) => done === 'unchanged')).toBe(true);
  }
  const { tables } = JSON.parse((await hub.cli('stats', '--json')).stdout) as {
    tables: { name: string; rows: number }[];
  };
  expect(tables.find(({ name }) => name === 'sync_devices')?.rows).toBeLessThanOrEqual(1000 + OTHERS);
});

test(`[SYN-18] changes_behind counts what is packed, what is dead in packs and what lies after them (FC_SEED=${seed})`, async () => {
  const random = numbers(seed);
  const laptop = await newDevice(hub);
  const others = ['phone', 'tablet', 'desk'].map((name) => laptop.other(name));
  const all = [laptop, ...others];
  const current = new Map<string, { seq: number; device: string; content: string }>();
  await pushMany(
    laptop,
    Array.from({ length: 1500 }, (_, n) => ({ path: `f${n}`, content: `${n}` })),
  );
  for (let n = 0; n < 1500; n += 1) current.set(`f${n}`, { seq: 0, device: 'laptop', content: `${n}` });
  for (const { seq, path } of (await pull(laptop, { initial: true })).files) {
    current.set(path, { seq, device: 'laptop', content: path.slice(1) });
  }
  const pulled = new Map<string, number>([['laptop', 0]]);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (let step = 0; step < 250; step += 1) {
    const who = pick(all);
    const path = `f${Math.floor(random() * 1500)}`;
    const { content } = current.get(path) ?? { content: '' };
    if (random() < 0.05) {
      const { cursor } = await pull(who, {
        initial: true,
        device_id: who.name,
        limit: 1 + Math.floor(random() * 2000),
      });
      const { devices } = await who.result<Connection>('vault_connect_status', { device_id: who.name });
      expect(cursor).not.toBeNull();
      pulled.set(who.name, devices[0]?.pulled_seq ?? -1);
    } else if (random() < 0.2 && content !== '') {
      const { seq } = (await remove(who, path, content)) as { seq: number };
      current.set(path, { seq, device: who.name, content: '' });
    } else {
      const next = `${path} ${step}`;
      const { seq } = await who.push(path, next, { base_sha: content === '' ? '' : sha256Of(content) });
      current.set(path, { seq, device: who.name, content: next });
    }
    if (!pulled.has(who.name)) pulled.set(who.name, 0);
    if (step % 10 > 0) continue;
    const { devices } = await laptop.result<Connection>('vault_connect_status', {});
    const told = Object.fromEntries(devices.map((one) => [one.device_id, one.changes_behind]));
    const wanted = [...pulled].map(([name, upTo]) => {
      const behind = [...current.values()].filter(({ seq, device: by }) => seq > upTo && by !== name);
      return [name, behind.length];
    });
    expect(told).toEqual(Object.fromEntries(wanted));
  }
});

test('[SYN-18] vaults whose names fold alike in other ways than case are told apart, and foreign ones are not there', async () => {
  const owner = await newDevice(hub);
  const ids = [];
  for (const name of ['Straße', 'Strasse']) {
    ids.push((await owner.result<{ vault_id: string }>('vault_create', { name })).vault_id);
  }
  const found = [];
  for (const name of ['STRAßE', 'STRASSE']) {
    found.push((await owner.result<{ vault_id: string }>('vault_clone', { name })).vault_id);
  }
  expect(found).toEqual(ids);
  const stranger = await newDevice(hub);
  for (const [tool, args] of [
    ['vault_clone', { vault_id: ids[0] }],
    ['vault_clone', { name: 'Straße' }],
    ['vault_connect_status', { vault_id: ids[0] }],
    ['vault_sync', { action: 'status', vault_id: ids[0] }],
    ['vault_sync', { action: 'list', vault_id: ids[0] }],
    ['vault_sync', { action: 'pull', initial: true, vault_id: ids[0] }],
  ] as const) {
    expect(await stranger.refusal(tool, args)).toMatchObject({ code: -32602 });
  }
});

test('[SYN-19] status tells what to pull, push, delete and settle, with and without bases', async () => {
  const laptop = await newDevice(hub);
  for (const [path, content] of Object.entries({
    same: 's',
    newer: '1',
    older: 'o',
    both: 'b',
    gone: 'g',
    edited: 'e',
    away: 'w',
    kept: 'k',
  })) {
    await laptop.push(path, content);
  }
  await laptop.push('newer', '2');
  await laptop.push('both', 'hub');
  await laptop.push('remote', 'r');
  await laptop.push('kept', 'k2');
  await remove(laptop, 'gone', 'g');
  await remove(laptop, 'edited', 'e');
  const manifest = hashes({
    same: 's',
    newer: '1',
    older: 'o, mine',
    both: 'mine',
    gone: 'g',
    edited: 'e, mine',
    mine: 'm',
  });
  const bases = hashes({ same: 's', newer: '1', older: 'o', both: 'b', gone: 'g', edited: 'e', away: 'w', kept: 'k' });
  const told = await status(laptop, { manifest, bases });
  expect(told).toMatchObject({ in_sync: 1, has_more: false, refused: [] });
  expect(told.pull).toEqual(['newer', 'remote'].map((path) => expect.objectContaining({ path })));
  expect(told.push).toEqual([
    { path: 'older', base_sha: sha256Of('o'), deleted: false },
    { path: 'mine', base_sha: '', deleted: false },
    { path: 'away', base_sha: sha256Of('w'), deleted: true },
  ]);
  expect(told.delete).toEqual([{ path: 'gone' }]);
  expect(told.conflict).toEqual([
    { path: 'both', kind: 'edit/edit', server_sha256: sha256Of('hub') },
    { path: 'edited', kind: 'edit/delete', server_sha256: null },
    { path: 'kept', kind: 'delete/edit', server_sha256: sha256Of('k2') },
  ]);
  // Without bases the history of the hub tells what it had before, and nothing is deleted that it never had.
  const blind = await status(laptop, { manifest });
  expect(blind.pull.map(({ path }) => path)).toEqual(['away', 'kept', 'newer', 'remote']);
  expect(blind.push.map(({ path }) => path)).toEqual(['edited', 'mine']);
  expect(blind.delete).toEqual([{ path: 'gone' }]);
  expect(blind.conflict.map(({ path }) => path)).toEqual(['both', 'older']);
  expect((await status(laptop, { manifest, bases, prefix: 'ol' })).push).toHaveLength(1);
});

test('[SYN-19] status compares the executable bit of files that are the same otherwise', async () => {
  const laptop = await newDevice(hub);
  const manifest = hashes({ both: '1', 'set here': '2', 'removed here': '3', 'set there': '4', 'removed there': '5' });
  await laptop.push('both', '1', { executable: true });
  await laptop.push('set here', '2');
  await laptop.push('removed here', '3', { executable: true });
  await laptop.push('set there', '4');
  await laptop.push('set there', '4', { executable: true });
  await laptop.push('removed there', '5', { executable: true });
  await laptop.push('removed there', '5', { executable: false, base_sha: sha256Of('5') });
  // Who does not know of the bit is not asked about it.
  expect(await status(laptop, { manifest })).toMatchObject({ in_sync: 5, pull: [], push: [] });
  const executables = ['both', 'set here', 'removed there', 'nowhere'];
  const told = await status(laptop, { manifest, bases: manifest, executables });
  expect(told).toMatchObject({ in_sync: 1, conflict: [], delete: [], refused: [] });
  expect(told.push.map(({ path }) => path).sort()).toEqual(['removed here', 'set here']);
  expect(told.pull.map(({ path }) => path).sort()).toEqual(['removed there', 'set there']);
  for (const { path, base_sha } of told.push) {
    const content = path === 'set here' ? '2' : '3';
    await laptop.push(path, content, { executable: executables.includes(path), base_sha });
  }
  const after = await status(laptop, { manifest, executables: ['both', 'set here', 'set there'] });
  expect(after).toMatchObject({ in_sync: 5, pull: [], push: [] });
});

test('[SYN-19] a device that does what status says is in step with the vault, and its cursor goes on from there', async () => {
  const laptop = await newDevice(hub);
  const phone = laptop.other('phone');
  phone.ms += 1000;
  await pushMany(
    laptop,
    Array.from({ length: 300 }, (_, n) => ({ path: `f/${n}`, content: `${n}` })),
  );
  const replica = new Replica();
  replica.apply((await pull(phone, { initial: true })).files);
  const bases = Object.fromEntries(replica.files);
  const contents = new Map<string, string>();
  for (let n = 0; n < 300; n += 7) contents.set(`f/${n}`, `phone ${n}`);
  for (const [path, content] of contents) replica.files.set(path, sha256Of(content));
  for (let n = 3; n < 300; n += 50) replica.files.delete(`f/${n}`);
  for (let n = 1; n < 300; n += 9) if (!contents.has(`f/${n}`)) await laptop.push(`f/${n}`, `laptop ${n}`);
  const told = await status(phone, { manifest: Object.fromEntries(replica.files), bases });
  for (const { path, base_sha: base, deleted } of told.push) {
    if (deleted) await phone.result('sync_push', phone.deleteOf(path, { base_sha: base }));
    else await phone.push(path, contents.get(path) ?? '', { base_sha: base });
  }
  replica.apply((await pull(phone, { paths: told.pull.map(({ path }) => path) })).files);
  for (const { path } of told.delete) replica.files.delete(path);
  // Changed there while it was deleted here: the change wins.
  replica.apply((await pull(phone, { paths: told.conflict.map(({ path }) => path) })).files);
  const after = await status(phone, {
    manifest: Object.fromEntries(replica.files),
    bases: Object.fromEntries(replica.files),
  });
  expect(after).toMatchObject({ pull: [], push: [], delete: [], conflict: [] });
  expect(after.in_sync).toBe(replica.files.size);
  expect(await pull(phone, { cursor: after.cursor })).toMatchObject({ total_count: 0 });
});

test('[SYN-19] names that the hub does not take are set aside with the reason', async () => {
  const laptop = await newDevice(hub);
  const manifest = hashes({ 'a\u200b': '1', 'ok.md': '2', 'OK.md': '3', '.git/config': '4', 'x/../y': '5' });
  const { refused, push } = await status(laptop, { manifest });
  expect(push.map(({ path }) => path)).toEqual(['ok.md']);
  expect(refused.map(({ path }) => path)).toEqual(['a\u200b', 'OK.md', '.git/config', 'x/../y']);
  expect(refused[1]?.reason).toContain('ok.md');
});

test('[SYN-19] a name that the device spells otherwise is told in both spellings', async () => {
  const laptop = await newDevice(hub);
  await laptop.push('Caf\u00e9.md', 'hub');
  const decomposed = 'CAFE\u0301.md';
  const told = await status(laptop, { manifest: hashes({ [decomposed]: 'mine', 'e\u0301': 'new' }) });
  expect(told.conflict).toEqual([
    { path: 'Caf\u00e9.md', local_path: decomposed, kind: 'edit/edit', server_sha256: sha256Of('hub') },
  ]);
  expect(told.push).toEqual([{ path: '\u00e9', local_path: 'e\u0301', base_sha: '', deleted: false }]);
});

test('[SYN-19] a change that waits as a conflict is told as one, and what the hub had is found in a long history', async () => {
  const laptop = await newDevice(hub);
  await laptop.push('a', '1');
  for (let n = 0; n < 600; n += 1) await laptop.push('a', `${n + 2}`);
  const old = await status(laptop, { manifest: hashes({ a: '1' }) });
  expect(old.pull.map(({ path }) => path)).toEqual(['a']);
  await laptop.other('phone').refusedPush('a', 'mine', { base_sha: sha256Of('1') });
  const told = await status(laptop, { manifest: hashes({ a: 'mine' }), bases: hashes({ a: '1' }) });
  expect(told.conflict).toMatchObject([{ path: 'a', kind: 'edit/edit', server_sha256: sha256Of('601') }]);
  expect(await laptop.result<Connection>('vault_connect_status', {})).toMatchObject({ pending_conflicts: 1 });
});

test('[SYN-19] the other actions answer as the tools that they stand for', async () => {
  const laptop = await newDevice(hub);
  const pushed = await laptop.result('vault_sync', { action: 'push', ...laptop.pushOf('a.md', 'x') });
  expect(pushed).toMatchObject({ path: 'a.md', status: 'created', seq: 1 });
  expect(await laptop.result('vault_sync', { action: 'list', glob: '*.md' })).toMatchObject({ total_count: 1 });
  expect(await laptop.result('vault_sync', { action: 'pull', path: 'a.md' })).toMatchObject({ content: 'x' });
  const many = await laptop.result('vault_sync', { action: 'pull', initial: true, device_id: 'phone' });
  expect(many).toMatchObject({ total_count: 1, files: [{ path: 'a.md' }] });
  const ask = toolRequest(7, 'vault_sync', { action: 'pull', initial: true });
  const lines = await post(hub, ask, { ...withKey(laptop.key), Accept: 'application/x-ndjson' });
  expect(readStream(lines.text).lines.map(({ path }) => path)).toEqual(['a.md']);
});

test.each([
  [{}, 'action', /required/],
  [{ action: 'merge' }, 'action', /status/],
  [{ action: 'list', content: 'x' }, 'content', /content is not a known field/],
  [{ action: 'pull', glob: '*' }, 'glob', /glob is not a known field/],
  [{ action: 'pull' }, 'path', /say what to pull/],
  [{ action: 'push', path: 'a' }, 'content', /required/],
  [{ action: 'status', path: 'a' }, 'path', /cannot be combined with action status/],
  [{ action: 'status', manifest: { a: 'x' } }, 'manifest', /SHA-256/],
  [{ action: 'status', manifest: { a: 1 } }, 'manifest', /SHA-256/],
  [{ action: 'status', bases: { a: '' } }, 'bases', /SHA-256/],
  [{ action: 'status', manifest: [] }, 'manifest', /object/],
  [{ action: 'status', manifest: { ['x'.repeat(5000)]: 'ab'.repeat(32) } }, 'manifest', /too long for a path/],
  [
    { action: 'status', device_id: 'phone' },
    'device_id',
    /which accepts manifest, bases, executables, prefix, vault_id/,
  ],
  [{ action: 'status', executables: [1] }, 'executables.0', /string/],
  [{ action: 'status', vault_id: 'v_0000000000000000' }, 'vault_id', /no vault/],
])('[SYN-19] wrong arguments are refused: %j', async (args, field, sentence) => {
  const { code, data, message } = await device.refusal('vault_sync', args);
  expect([code, data['field']]).toEqual([-32602, field]);
  expect(message).toMatch(sentence);
});

test('[SYN-19] a manifest of more files than one call takes is refused, not cut', async () => {
  const manifest = Object.fromEntries(Array.from({ length: 40_001 }, (_, n) => [`f${n}`, 'ab'.repeat(32)]));
  expect(await device.refusal('vault_sync', { action: 'status', manifest })).toMatchObject({
    code: -32602,
    data: { field: 'manifest' },
  });
});
