/** sync_push_many from outside: each file as a lone push, in order, whatever becomes of the others. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { call } from '../../support/http.ts';
import { type Device, newDevice, type Pushed, type Refused, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

interface Many {
  readonly vault_id: string;
  readonly accepted: number;
  readonly refused: number;
  readonly results: (Partial<Pushed> & { readonly path: string | null; readonly error?: Refused })[];
}

const hub = useHub({ verified: true });
let laptop: Device;
let phone: Device;

beforeAll(async () => {
  laptop = await newDevice(hub);
  phone = laptop.other('phone');
});

const pushMany = (device: Device, files: readonly object[], more: object = {}): Promise<Many> =>
  device.result<Many>('sync_push_many', { device_id: device.name, files, ...more });

/** A file without a device of its own. */
const file = (device: Device, path: string, content: string, more: object = {}): object =>
  device.pushOf(path, content, { device_id: undefined, ...more });

const contentOf = async (device: Device, path: string): Promise<string> =>
  (await device.result<{ content: string }>('sync_pull', { path })).content;

test('[SYN-23] many files are taken in one call, in order, short and long, text and binary', async () => {
  const device = await newDevice(hub);
  const binary = randomBytes(200_000);
  const contents = Array.from({ length: 300 }, (_, index) =>
    index % 50 === 7 ? 'ü"\\'.repeat(40_000) : `file ${index}\n`,
  );
  const files = contents.map((content, index) => file(device, `d${index % 7}/${index}.md`, content));
  const asBytes = { encoding: 'base64', sha256: sha256Of(binary) };
  const made = await pushMany(device, [...files, file(device, 'b.bin', binary.toString('base64'), asBytes)]);
  expect(made).toMatchObject({ accepted: 301, refused: 0 });
  expect(made.results.map(({ seq }) => seq)).toEqual(made.results.map((_, index) => index + 1));
  expect(made.results.map(({ sha256 }) => sha256)).toEqual([...contents.map((one) => sha256Of(one)), sha256Of(binary)]);
  expect(await contentOf(device, 'd0/7.md')).toBe(contents[7]);
  expect(await contentOf(device, 'b.bin')).toBe(binary.toString('base64'));
  const [first] = made.results;
  const alone = await device.push('alone.md', 'x');
  expect(Object.keys({ vault_id: '', ...first }).sort()).toEqual(Object.keys(alone).sort());
  const again = await pushMany(device, files);
  expect(new Set(again.results.map(({ status }) => status))).toEqual(new Set(['unchanged']));
});

test('[SYN-23, TOOL-5] a file without a device is that of the call, also with a clock that names no node', async () => {
  const mine = laptop.pushOf('clock.md', 'x', { device_id: null, hlc: '2026-11-20T20:18:57.123Z' });
  expect(await pushMany(laptop, [mine])).toMatchObject({ accepted: 1, refused: 0 });
});

test('[SYN-23] each file is refused as a lone push is, and harms no other', async () => {
  await laptop.push('taken.md', 'of the laptop');
  const known = laptop.ms;
  const wrong: (() => object)[] = [
    () => phone.pushOf('../out.md', 'x'),
    () => phone.pushOf('sha.md', 'x', { sha256: sha256Of('y') }),
    () => phone.pushOf('sha-long.md', 'x'.repeat(100_000), { sha256: sha256Of('y') }),
    () => phone.pushOf('unknown.md', 'x', { contents: 'x' }),
    () => ({ content: 'x', device_id: 'phone' }),
    () => phone.pushOf('half.md', '\ud800'),
    () => phone.deleteOf('missing.md'),
    () => phone.pushOf('taken.md', 'of the phone', { base_sha: sha256Of('nothing') }),
    () => phone.deleteOf('taken.md'),
    () => phone.pushOf('taken.md/below.md', 'x'),
  ];
  for (const [index, make] of wrong.entries()) {
    phone.ms = known;
    const lone = await phone.refusal('sync_push', make());
    phone.ms = known;
    const made = await pushMany(phone, [
      file(phone, `before/${index}.md`, 'x'),
      make(),
      file(phone, `after/${index}.md`, 'x'),
    ]);
    expect(made).toMatchObject({ accepted: 2, refused: 1 });
    const { error, status } = made.results[1] ?? {};
    expect(status).toBe('refused');
    expect(error?.code).toBe(lone.code);
    const withoutClock = (text = '') => text.replaceAll(/c_[0-9a-f]{16}/g, 'c_');
    expect(withoutClock(error?.message)).toBe(withoutClock(lone.message));
    const { conflict_id: mine, your_hlc: _, time_diff_seconds: __, ...data } = error?.data ?? {};
    const { conflict_id: theirs, your_hlc: ___, time_diff_seconds: ____, ...loneData } = lone.data;
    expect(data).toEqual(loneData);
    // The same device and the same bytes: the one conflict that is kept.
    expect(mine).toBe(theirs);
  }
  expect(await contentOf(laptop, 'taken.md')).toBe('of the laptop');
});

test('[SYN-23] files are decided in order: a delete frees a name, a swap goes through a third name', async () => {
  const device = await newDevice(hub);
  await pushMany(device, [file(device, 'a', 'A'), file(device, 'b', 'B'), file(device, 'folder', 'was a file')]);
  const made = await pushMany(device, [
    file(device, 'swap', 'A', { from_path: 'a', base_sha: sha256Of('A') }),
    file(device, 'a', 'B', { from_path: 'b', base_sha: sha256Of('B') }),
    file(device, 'b', 'A', { from_path: 'swap', base_sha: sha256Of('A') }),
    device.deleteOf('folder', { base_sha: sha256Of('was a file') }),
    file(device, 'folder/inside.md', 'now a folder'),
    file(device, 'many', '1'),
    file(device, 'many', '2', { base_sha: sha256Of('1') }),
    file(device, 'many', 'long '.repeat(30_000), { base_sha: sha256Of('2') }),
    file(device, 'many', '4', { base_sha: sha256Of('long '.repeat(30_000)) }),
  ]);
  expect(made).toMatchObject({ accepted: 9, refused: 0 });
  expect(await contentOf(device, 'a')).toBe('B');
  expect(await contentOf(device, 'b')).toBe('A');
  expect(await contentOf(device, 'many')).toBe('4');
});

test('[SYN-23] more files, or more bytes, than one call takes are refused whole', async () => {
  const device = await newDevice(hub);
  const tooMany = Array.from({ length: 1001 }, (_, index) => file(device, `f${index}`, ''));
  const refusals = [tooMany, [file(device, 'big', 'x'.repeat(8 * 2 ** 20)), file(device, 'small', 'x')], []];
  for (const files of refusals) {
    expect(await device.refusal('sync_push_many', { files, device_id: 'x' })).toMatchObject({
      code: -32602,
      data: { field: 'files' },
    });
  }
  expect(await device.result('sync_list', {})).toMatchObject({ total_count: 0 });
  const most = Array.from({ length: 1000 }, (_, index) => file(device, `f${index}`, `${index}`));
  expect(await pushMany(device, most)).toMatchObject({ accepted: 1000 });
});

test('[SYN-23] it works through the tool mirror, and a text names what was refused', async () => {
  const device = await newDevice(hub);
  const answer = await call(hub, '/api/mcp/tools/sync_push_many', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `McpKey ${device.key}` },
    body: JSON.stringify({ device_id: 'curl', files: [file(device, 'a.md', 'a'), file(device, '/a', 'a')] }),
  });
  expect(answer.json()).toMatchObject({ accepted: 1, refused: 1, results: [{ status: 'created' }, { path: '/a' }] });
  const reply = await device.call('sync_push_many', { device_id: 'x', files: [file(device, '/a', 'a')] });
  expect(JSON.stringify(reply.result?.['content'])).toContain('0 of 1 file accepted, 1 refused:\\n/a is refused: ');
});
