/** Renames that bring no content: the bytes stay, and the history goes along. */
import { expect, test } from 'vitest';
import { type Device, newDevice, type Pushed, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ verified: true });
const LONG = 'long "line"\n'.repeat(20_000);

const rename = (from: string, path: string, content: string, more: object = {}) => ({
  from_path: from,
  path,
  base_sha: sha256Of(content),
  ...more,
});

const move = (device: Device, from: string, path: string, content: string): Promise<Pushed> =>
  device.result<Pushed>('sync_push', rename(from, path, content));

test('[SYN-1] a rename without content keeps bytes, mtime and execute bit, short or long', async () => {
  const device = await newDevice(hub);
  for (const content of ['short', LONG]) {
    const mtime = '2026-11-20T20:18:57.000Z';
    await device.push('a/old.md', content, { mtime, executable: true, base_sha: '' });
    const moved = await move(device, 'a/old.md', 'b/new.md', content);
    expect(moved).toMatchObject({ status: 'renamed', sha256: sha256Of(content), executable: true });
    const pulled = await device.result('sync_pull', { path: 'b/new.md' });
    expect(pulled).toMatchObject({ content, remote_mtime: mtime, renamed_from: 'a/old.md' });
    // A lost answer: the same again.
    expect(await move(device, 'a/old.md', 'b/new.md', content)).toMatchObject({ status: 'unchanged' });
    await device.result('sync_push', device.deleteOf('b/new.md', { base_sha: sha256Of(content) }));
  }
});

test('[SYN-1] a new spelling, a chain and a swap are renames without content too', async () => {
  const device = await newDevice(hub);
  await device.push('a', 'A');
  await device.push('b', 'B');
  expect(await move(device, 'a', 'A', 'A')).toMatchObject({ path: 'A', status: 'renamed' });
  const files = [rename('A', 'swap', 'A'), rename('b', 'A', 'B'), rename('swap', 'b', 'A')];
  expect(await device.result('sync_push_many', { files })).toMatchObject({ accepted: 3 });
  const { files: now } = await device.result<{ files: { path: string; sha256: string }[] }>('sync_list', {});
  expect(now.map(({ path, sha256 }) => [path, sha256])).toEqual([
    ['A', sha256Of('B')],
    ['b', sha256Of('A')],
  ]);
});

test('[SYN-1, SYN-3] a rename that another device made with another spelling is no repeat of it', async () => {
  const device = await newDevice(hub);
  await device.push('notes.md', 'N');
  await move(device, 'notes.md', 'Claude.MD', 'N');
  const content = { content: 'N', sha256: sha256Of('N') };
  for (const bytes of [{}, content]) {
    const refusal = await device.refusal('sync_push', rename('notes.md', 'CLAUDE.md', 'N', bytes));
    expect(refusal).toMatchObject({ code: -32005, data: { path: 'notes.md' } });
  }
  expect(await move(device, 'notes.md', 'Claude.MD', 'N')).toMatchObject({ status: 'unchanged', path: 'Claude.MD' });
});

test('[SYN-5] a rename without content that meets another change is refused and keeps nothing', async () => {
  const device = await newDevice(hub);
  await device.push('a', 'A');
  await device.push('b', 'B');
  const stale = await device.refusal('sync_push', rename('a', 'c', 'older'));
  expect(stale).toMatchObject({
    code: -32006,
    data: { conflict_id: null, server_sha256: sha256Of('A'), next: 'sync_list' },
  });
  expect(stale.message).toContain('Nothing was changed');
  const onto = await device.refusal('sync_push', rename('a', 'b', 'A'));
  expect(onto).toMatchObject({ code: -32006, data: { conflict_id: null, server_sha256: sha256Of('B') } });
  expect(await device.refusal('sync_push', rename('gone', 'c', 'A'))).toMatchObject({ code: -32005 });
  expect(await device.refusal('sync_push', rename('a', 'c', 'A', { sha256: sha256Of('A') }))).toMatchObject({
    data: { field: 'sha256' },
  });
  expect(await device.result('sync_pending_conflicts', {})).toMatchObject({ count: 0 });
});

test('[SYN-7] the history of a renamed file goes on under its earlier names, and any version of it comes back', async () => {
  const device = await newDevice(hub);
  await device.push('other', 'was at z before');
  await move(device, 'other', 'z', 'was at z before');
  await device.result('sync_push', device.deleteOf('z', { base_sha: sha256Of('was at z before') }));
  await device.push('x', '1');
  await device.push('x', '2');
  await move(device, 'x', 'y', '2');
  await device.push('y', '3', { base_sha: sha256Of('2') });
  await move(device, 'y', 'z', '3');
  interface Version {
    readonly seq: number;
    readonly path: string;
    readonly sha256: string;
    readonly deleted: boolean;
  }
  const history = async (more: object = {}) =>
    (await device.result<{ versions: Version[]; has_more: boolean }>('sync_history', { path: 'z', ...more })).versions;
  const all = await history();
  expect(all.map(({ path, deleted }) => `${path}${deleted ? ' deleted' : ''}`)).toEqual([
    'z',
    'y',
    'y',
    'x',
    'x',
    'z deleted',
    'z',
    'other',
  ]);
  const paged: Version[] = [];
  for (;;) {
    const page = await history({ limit: 2, before: paged.at(-1)?.seq });
    paged.push(...page);
    if (page.length < 2) break;
  }
  expect(paged).toEqual(all);
  const first = all.find(({ sha256 }) => sha256 === sha256Of('1'));
  expect(await device.result('sync_restore', { path: 'z', seq: first?.seq })).toMatchObject({
    path: 'z',
    status: 'restored',
    sha256: sha256Of('1'),
  });
  await device.push('stranger', 'not of z');
  const foreign = await device.refusal('sync_restore', { path: 'z', seq: 1000 });
  expect(foreign).toMatchObject({ data: { field: 'seq' } });
});
