/** Files whose stored bytes are damaged: never pulled as whole, told of, and mended by a push of the same bytes. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { flip } from '../support/flip.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { until, verified } from '../support/mirror-state.ts';
import { rowsOf } from '../support/portable.ts';
import { pullStream } from '../support/pull.ts';
import { type Device, newDevice, sha256Of } from '../support/sync.ts';

let hub: Hub;
let laptop: Device;

beforeEach(async () => {
  hub = await startHub();
  laptop = await newDevice(hub);
});
afterEach(() => hub.kill());

const pulled = async (path: string): Promise<string> =>
  (await laptop.result<{ content: string }>('sync_pull', { path })).content;

/** A text of letters and digits, with what JSON escapes. */
const text = (bytes: number): string => `${randomBytes(bytes / 2).toString('hex')}"\\\n\tend 😀`;

test.each([
  ['small', 500],
  ['long', 400_000],
])('[MIR-19] [SYN-9] a damaged %s file is not pulled, and healed by a push of the same bytes', async (_kind, size) => {
  const content = text(size);
  await laptop.push('other.md', 'another file');
  const first = await laptop.push('damaged.md', content);
  flip(hub.dataFolder, content.slice(200, 264));
  await expect(pulled('damaged.md')).rejects.toThrow();
  await expect(laptop.result('sync_pull', { initial: true })).rejects.toThrow();
  await hub.waitForLog((line) => line['damaged'] === 'version' && line['level'] === 50);
  expect(await pulled('other.md')).toBe('another file');
  expect((await verified(hub)).problems).toEqual([expect.stringContaining(`version ${first.vault_id} ${first.seq}`)]);
  const again = await laptop.push('damaged.md', content);
  expect([again.status, again.seq]).toEqual(['unchanged', first.seq]);
  expect(await pulled('damaged.md')).toBe(content);
  expect(await verified(hub)).toMatchObject({ ok: true, staged_contents: 0 });
  expect(sha256Of(await pulled('damaged.md'))).toBe(first.sha256);
});

test('[MIR-19] a long file that was pulled whole is checked at each later pull', async () => {
  const content = text(2_500_000);
  await laptop.push('long.md', content);
  const all = async () => (await pullStream(laptop, { initial: true })).lines.map((line) => line.content);
  for (let pull = 0; pull < 2; pull += 1) expect(await all()).toEqual([content]);
  flip(hub.dataFolder, content.slice(2_200_000, 2_200_064));
  await expect(all()).rejects.toThrow();
  await hub.waitForLog((line) => line['damaged'] === 'version' && line['level'] === 50);
  await laptop.push('long.md', content);
  expect(await all()).toEqual([content]);
});

test('[MIR-19] a whole long file is pulled as it is, whatever it holds', async () => {
  for (const content of [
    text(300_000),
    '"'.repeat(300_000),
    '\\'.repeat(299_999),
    '\u0001'.repeat(100_000),
    '😀é'.repeat(80_000),
  ]) {
    await laptop.push('long.md', content, { base_sha: undefined });
    expect(await pulled('long.md')).toBe(content);
  }
  const bytes = randomBytes(500_001);
  await laptop.push('long.bin', bytes.toString('base64'), { encoding: 'base64', sha256: sha256Of(bytes) });
  expect(await pulled('long.bin')).toBe(bytes.toString('base64'));
});

test('[MIR-19] damaged packs are told of once, and made anew from the versions', async () => {
  const files = Array.from({ length: 8 }, (_, index) => [`${index}.md`, text(40_000)] as const);
  for (const [path, content] of files) await laptop.push(path, content);
  await until('a pack', () => (Number(rowsOf(hub)['sync_packs']) > 0 ? true : undefined));
  const whole = await laptop.result<{ total_count: number }>('sync_pull', { initial: true });
  // Both copies are damaged, and the version is healed.
  const [path, content] = files[2] ?? ['', ''];
  flip(hub.dataFolder, content.slice(300, 364));
  await expect(laptop.result('sync_pull', { initial: true })).rejects.toThrow();
  await hub.waitForLog((line) => line['damaged'] === 'pack');
  await laptop.push(path, content);
  const after = await until('a whole pull', () =>
    laptop
      .result<{ total_count: number; files: { path: string; content: string }[] }>('sync_pull', { initial: true })
      .catch(() => undefined),
  );
  expect(after.total_count).toBe(whole.total_count);
  expect(after.files.find((file) => file.path === path)?.content).toBe(content);
  await until('a whole data file', async () => ((await verified(hub)).ok ? true : undefined));
});

test('[MIR-19] [OPS-4] a merge or diff over a damaged version or conflict is refused, and the log says which', async () => {
  const base = text(2000);
  const first = await laptop.push('notes.md', base);
  const current = `${text(2000)}\n${base}`;
  const second = await laptop.push('notes.md', current, { base_sha: first.sha256 });
  const mine = `${base}\n${text(2000)}`;
  const refused = await laptop.refusal('sync_push', {
    path: 'notes.md',
    content: mine,
    base_sha: '0'.repeat(64),
    sha256: sha256Of(mine),
    hlc: '2001-01-01T00:00:00.000Z-0000-laptop',
  });
  const conflictId = String((refused.data as { readonly conflict_id?: string }).conflict_id);
  flip(hub.dataFolder, mine.slice(-200, -100));
  await expect(laptop.result('sync_merge', { conflict_id: conflictId })).rejects.toThrow();
  await hub.waitForLog((line) => line['damaged'] === 'conflict' && line['conflict_id'] === conflictId);
  flip(hub.dataFolder, current.slice(200, 264));
  await expect(laptop.result('sync_merge', { path: 'notes.md', content: mine })).rejects.toThrow();
  await hub.waitForLog((line) => line['damaged'] === 'version' && line['seq'] === second.seq && line['level'] === 50);
});

test('[MIR-19] [SYN-14] a conflict whose refused side is damaged is settled with the other side, which is read alone', async () => {
  const base = text(2000);
  const first = await laptop.push('notes.md', base);
  const second = await laptop.push('notes.md', `${text(2000)}\n${base}`, { base_sha: first.sha256 });
  const mine = `${base}\n${text(2000)}`;
  const { data } = await laptop.refusedPush('notes.md', mine, {
    base_sha: '0'.repeat(64),
    hlc: '2001-01-01T00:00:00.000Z-0000-laptop',
  });
  flip(hub.dataFolder, mine.slice(-200, -100));
  const id = `cairn://conflicts/${String(data['conflict_id'])}`;
  const settled = await laptop.result('settle_conflict', { id, keep: 'current', version: second.seq });
  expect(settled).toMatchObject({ id, version: second.seq });
  expect(await laptop.result('sync_pending_conflicts', {})).toMatchObject({ count: 0 });
});
