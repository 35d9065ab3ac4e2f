/** sync_restore_folder from outside: a folder as it was at a time, and back again. */
import { expect, test } from 'vitest';
import { type Device, newDevice, type Pushed, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ verified: true });

interface Page {
  readonly restored: string[];
  readonly deleted: string[];
  readonly skipped: { path: string; reason: string }[];
  readonly has_more: boolean;
  readonly cursor: string | null;
}

const contents = async (device: Device): Promise<Record<string, string>> => {
  const { files } = await device.result<{ files: { path: string; content: string }[] }>('sync_pull', { initial: true });
  return Object.fromEntries(files.map(({ path, content }) => [path, content]));
};

const remove = (device: Device, path: string, content: string): Promise<Pushed> =>
  device.result<Pushed>('sync_push', device.deleteOf(path, { base_sha: sha256Of(content) }));

test('[SYN-7] a folder goes back to how it was at a time, deletions first, and forward again', async () => {
  const device = await newDevice(hub);
  const long = 'long '.repeat(30_000);
  await device.push('n/changed.md', 'old');
  await device.push('n/kept.md', 'kept');
  await device.push('n/file', 'a file');
  await device.push('n/long.md', long);
  await device.push('other.md', 'old');
  const before = await contents(device);
  const { stored_at: at } = await device.push('n/moves.md', 'moves');
  await device.push('n/changed.md', 'new', { base_sha: sha256Of('old') });
  await remove(device, 'n/file', 'a file');
  await device.push('n/file/inside.md', 'now a folder');
  await remove(device, 'n/long.md', long);
  await device.result('sync_push', { path: 'n/moved.md', from_path: 'n/moves.md', base_sha: sha256Of('moves') });
  await device.push('other.md', 'new', { base_sha: sha256Of('old') });
  const { stored_at: later } = await device.push('n/last.md', 'last');
  const after = await contents(device);

  const plan = await device.result<Page>('sync_restore_folder', { at, folder: 'n', dry_run: true });
  expect(plan).toMatchObject({ skipped: [], has_more: false, cursor: null });
  expect(plan.deleted.sort()).toEqual(['n/file/inside.md', 'n/last.md', 'n/moved.md']);
  expect(plan.restored.sort()).toEqual(['n/changed.md', 'n/file', 'n/long.md', 'n/moves.md']);
  expect(await contents(device)).toEqual(after);
  expect(await device.result('sync_restore_folder', { at, folder: 'n' })).toMatchObject(plan);
  expect(await contents(device)).toEqual({ ...before, 'n/moves.md': 'moves', 'other.md': 'new' });
  expect(await device.result('sync_restore_folder', { at, folder: 'n' })).toMatchObject({ restored: [], deleted: [] });
  await device.result('sync_restore_folder', { at: later });
  expect(await contents(device)).toEqual(after);
});

test('[SYN-7] many changes go in portions, and a wrong time or cursor is refused', async () => {
  const device = await newDevice(hub);
  const files = (content: string, more: object) =>
    Array.from({ length: 450 }, (_, index) => device.pushOf(`${index}`, content, more));
  await device.result('sync_push_many', { files: files('old', {}) });
  const { stored_at: at } = await device.push('mark', '');
  await device.result('sync_push_many', { files: files('new', { base_sha: sha256Of('old') }) });
  let page = await device.result<Page>('sync_restore_folder', { at });
  let restored = page.restored.length;
  expect(restored).toBe(200);
  while (page.has_more) {
    page = await device.result<Page>('sync_restore_folder', { at, cursor: page.cursor });
    restored += page.restored.length;
  }
  expect(restored).toBe(450);
  expect(new Set(Object.values(await contents(device)))).toEqual(new Set(['old', '']));
  for (const [args, field] of [
    [{ at: 'yesterday' }, 'at'],
    [{ at, cursor: 'x' }, 'cursor'],
    [{ at, folder: '../x' }, 'folder'],
  ] as const) {
    expect(await device.refusal('sync_restore_folder', args)).toMatchObject({ code: -32602, data: { field } });
  }
});

test('[SYN-7] the executable bit and the spelling of a name go back too, and a dry run says so', async () => {
  const device = await newDevice(hub);
  const state = async () => {
    const { files } = await device.result<{ files: { path: string; executable: boolean }[] }>('sync_list', {});
    return files.map(({ path, executable }) => `${path} ${executable}`);
  };
  await device.push('run.sh', 'true', { executable: true });
  const { stored_at: at } = await device.push('readme.md', 'text');
  const before = await state();
  await device.push('run.sh', 'true', { executable: false, base_sha: sha256Of('true') });
  await device.result('sync_push', { path: 'README.md', from_path: 'readme.md', base_sha: sha256Of('text') });
  expect(await state()).not.toEqual(before);
  const both = { restored: ['README.md', 'run.sh'], deleted: [], skipped: [] };
  expect(await device.result('sync_restore_folder', { at, dry_run: true })).toMatchObject(both);
  expect(await device.result('sync_restore_folder', { at })).toMatchObject(both);
  expect(await state()).toEqual(before);
  expect(await device.result('sync_restore_folder', { at, dry_run: true })).toMatchObject({ restored: [] });
});
