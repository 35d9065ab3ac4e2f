/** Files changed in pages, with a browser without script: written, edited, uploaded, renamed, deleted, and undone. */
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { FIREFOX, type PageClient, signedUp } from '../../support/page-client.ts';
import { Device } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });
let count = 0;

async function member(): Promise<{ client: PageClient; device: Device; vault: string }> {
  count += 1;
  const client = await signedUp(hub, `changer${count}@example.org`, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  await client.open('/vaults');
  await client.submit('/vaults', { name: 'Notes' });
  return { client, device: new Device(hub, key), vault: client.answer?.headers.location ?? client.path };
}

const filePage = (vault: string, path: string) => `${vault}/file?${new URLSearchParams({ path })}`;

/** The bytes that a vault has for a path now. */
async function bytesOf(client: PageClient, vault: string, path: string): Promise<string | number> {
  const { status, text } = await client.send(`${vault}/bytes?${new URLSearchParams({ path })}`);
  return status === 200 ? text : status;
}

/** Sends the undo that the page offers. */
async function undo(client: PageClient, headers: Record<string, string> = {}): Promise<void> {
  const [form] = client.forms.filter(({ html }) => html.includes('Undo'));
  await client.submit(form?.action ?? '', {}, headers);
}

/** A form with files, as a browser sends it. */
function multipart(fields: Record<string, string>, files: readonly (readonly [name: string, bytes: Buffer])[]) {
  const boundary = 'form-boundary-3f9a';
  const head = (text: string) => Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${text}\r\n`);
  const parts = [
    ...Object.entries(fields).flatMap(([name, value]) => [head(`name="${name}"`), Buffer.from(`\r\n${value}\r\n`)]),
    ...files.flatMap(([name, bytes]) => [
      head(`name="files"; filename="${name}"`),
      Buffer.from('Content-Type: application/octet-stream\r\n\r\n'),
      bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(parts) };
}

async function upload(
  client: PageClient,
  vault: string,
  fields: Record<string, string>,
  files: readonly (readonly [name: string, bytes: Buffer])[],
) {
  const { type, body } = multipart(fields, files);
  const headers = { 'Content-Type': type, Origin: hub.url };
  const answer = await client.send(`${vault}/upload`, { method: 'POST', headers, body });
  if (answer.status === 303) await client.open(answer.headers.location ?? '');
  return answer;
}

test('[WEB-12] a file is written, edited, renamed and deleted, and each step is undone', async () => {
  const { client, vault } = await member();
  await client.open(`${vault}/new?folder=notes`);
  await client.submit(`${vault}/save`, { path: 'notes/a.md', content: 'one\r\ntwo' });
  expect(client.text).toContain('File created.');
  expect(await bytesOf(client, vault, 'notes/a.md')).toBe('one\ntwo');
  await client.open(`${vault}/edit?path=notes%2Fa.md`);
  await client.submit(`${vault}/save`, { content: '\nthree' });
  expect(client.text).toContain('File saved.');
  expect(await bytesOf(client, vault, 'notes/a.md')).toBe('\nthree');
  await client.open(`${vault}/edit?path=notes%2Fa.md`);
  await client.submit(`${vault}/save`);
  expect(client.text).toContain('Nothing changed.');
  await client.open(`${vault}/edit?path=notes%2Fa.md`);
  await client.submit(`${vault}/save`, { content: 'four' });
  await undo(client);
  expect(await bytesOf(client, vault, 'notes/a.md')).toBe('\nthree');
  await client.open(filePage(vault, 'notes/a.md'));
  await client.submit(`${vault}/rename`, { to: 'done/b.md' });
  expect(client.text).toContain('Renamed from “notes/a.md”.');
  expect([await bytesOf(client, vault, 'done/b.md'), await bytesOf(client, vault, 'notes/a.md')]).toEqual([
    '\nthree',
    404,
  ]);
  await client.open(filePage(vault, 'done/b.md'));
  await client.submit(`${vault}/rename`, { to: 'c.md' });
  await undo(client);
  expect(await bytesOf(client, vault, 'done/b.md')).toBe('\nthree');
  await client.open(filePage(vault, 'done/b.md'));
  await client.submit(`${vault}/delete`);
  expect(client.text).toContain('was deleted');
  await undo(client);
  expect(await bytesOf(client, vault, 'done/b.md')).toBe('\nthree');
});

test('[WEB-12] the author of a change made on a page is the browser, which is not a device of the vault', async () => {
  const { client, device, vault } = await member();
  await client.open(`${vault}/new`);
  await client.submit(`${vault}/save`, { path: 'a.md', content: 'one' }, FIREFOX);
  await client.open(`${vault}/edit?path=a.md`);
  await client.submit(`${vault}/save`, { content: 'two' }, FIREFOX);
  await undo(client, FIREFOX);
  await client.open(filePage(vault, 'a.md'));
  await client.submit(`${vault}/rename`, { to: 'b.md' }, FIREFOX);
  await client.open(filePage(vault, 'b.md'));
  await client.submit(`${vault}/delete`, {}, FIREFOX);
  const vaultId = vault.slice('/vaults/'.length);
  const { versions } = await device.result<{ versions: { status: string; device_id: string }[] }>('sync_history', {
    path: 'b.md',
    vault_id: vaultId,
  });
  const made = versions.map(({ status, device_id: by }) => `${status} by ${by}`);
  expect(made).toEqual(
    ['deleted', 'renamed', 'restored', 'updated', 'created'].map((status) => `${status} by Firefox on Linux`),
  );
  expect(await device.result('vault_connect_status', { vault_id: vaultId })).toMatchObject({ devices: [] });
  await client.open('/activity?by=Firefox%20on%20Linux');
  expect(client.text).toContain('Deleted b.md');
});

test('[WEB-12] what changed elsewhere is not overwritten: the text is kept as a conflict, and shown', async () => {
  const { client, device, vault } = await member();
  const vaultId = vault.slice(vault.lastIndexOf('/') + 1);
  const base = await device.push('a.md', 'base\n', { vault_id: vaultId });
  await client.open(`${vault}/edit?path=a.md`);
  const mine = client.fieldsOf(`${vault}/save`, { content: 'mine\n' });
  await client.open(filePage(vault, 'a.md'));
  const [stale, rename] = [client.fieldsOf(`${vault}/delete`), client.fieldsOf(`${vault}/rename`, { to: 'b.md' })];
  await device.push('a.md', 'theirs\n', { vault_id: vaultId, base_sha: base.sha256 });
  const answer = await client.post(`${vault}/save`, mine);
  expect(answer.headers.location).toContain(`${vault}/conflicts/`);
  await client.open(answer.headers.location ?? '');
  expect(client.text).toContain('was changed elsewhere since you opened it');
  expect(client.html).toContain('mine');
  for (const [form, fields] of [
    ['delete', stale],
    ['rename', rename],
  ] as const) {
    const refused = await client.post(`${vault}/${form}`, fields);
    await client.open(refused.headers.location ?? '');
    expect([form, client.text]).toEqual([
      form,
      expect.stringContaining('Something changed since you opened this page'),
    ]);
  }
  expect([await bytesOf(client, vault, 'a.md'), await bytesOf(client, vault, 'b.md')]).toEqual(['theirs\n', 404]);
  // A new file does not take the place of one that is there either.
  await client.open(`${vault}/new`);
  const again = await client.post(`${vault}/save`, client.fieldsOf(`${vault}/save`, { path: 'a.md', content: 'new' }));
  expect(again.headers.location).toContain(`${vault}/conflicts/`);
  expect(await bytesOf(client, vault, 'a.md')).toBe('theirs\n');
});

test('[WEB-12] a path that no device can store is refused in the form, and what was typed is kept', async () => {
  const { client, vault } = await member();
  for (const path of ['', '../x', '/x', 'a\\b', 'a\u200b', 'x'.repeat(2000), '.git/config', '...']) {
    await client.open(`${vault}/new`);
    const answer = await client.submit(`${vault}/save`, { path, content: 'kept <b>text</b>' });
    expect([path, answer.status, client.fieldsOf(`${vault}/save`).get('content')]).toEqual([
      path,
      422,
      'kept <b>text</b>',
    ]);
  }
});

test('[WEB-12, LIM-2] files are uploaded, with folders; one that is there is replaced only when that was chosen', async () => {
  const { client, vault } = await member();
  await client.open(vault);
  const csrf = client.form(`${vault}/upload`).fields.get('csrf') ?? '';
  const binary = Buffer.from([0, 255, 13, 10, 45, 45]);
  await upload(client, vault, { csrf, folder: 'in' }, [
    ['a.txt', Buffer.from('a')],
    ['sub/ünï.bin', binary],
  ]);
  expect(client.text).toContain('2 files uploaded.');
  const { bytes } = await client.send(`${vault}/bytes?${new URLSearchParams({ path: 'in/sub/ünï.bin' })}`);
  expect(bytes.equals(binary)).toBe(true);
  await upload(client, vault, { csrf, folder: 'in' }, [['a.txt', Buffer.from('b')]]);
  expect(client.text).toContain('0 files uploaded. a.txt: it already exists.');
  expect(await bytesOf(client, vault, 'in/a.txt')).toBe('a');
  await upload(client, vault, { csrf, folder: 'in', replace: 'true' }, [['A.TXT', Buffer.from('b')]]);
  expect(await bytesOf(client, vault, 'in/a.txt')).toBe('b');
  await upload(client, vault, { csrf, folder: '' }, [['../out.txt', Buffer.from('b')]]);
  expect(client.text).toContain('0 files uploaded. ../out.txt: ');
  await upload(client, vault, { csrf, folder: '' }, [['', Buffer.alloc(0)]]);
  expect(client.text).toContain('Choose files first.');
  const large = Buffer.alloc(limits.fileBytesMax + 1);
  const refused = await upload(client, vault, { csrf, folder: '' }, [['large.bin', large]]);
  expect([refused.status, client.text]).toEqual([422, expect.stringContaining('“large.bin” is larger than 10 MiB.')]);
  const many = Array.from({ length: limits.uploadFilesMax + 1 }, (_, at) => [`${at}`, Buffer.from('x')] as const);
  expect((await upload(client, vault, { csrf, folder: '' }, many)).status).toBe(422);
  expect(await bytesOf(client, vault, 'large.bin')).toBe(404);
});

test('[WEB-12, WEB-6] an upload without the token, from another origin, cut off or of another type changes nothing', async () => {
  const { client, vault } = await member();
  await client.open(vault);
  const csrf = client.form(`${vault}/upload`).fields.get('csrf') ?? '';
  const files = [['a.txt', Buffer.from('a')]] as const;
  expect((await upload(client, vault, { folder: '' }, files)).status).toBe(403);
  expect((await upload(client, vault, { csrf: 'x'.repeat(csrf.length), folder: '' }, files)).status).toBe(403);
  const { type, body } = multipart({ csrf, folder: '' }, files);
  const send = (headers: Record<string, string>, sent = body) =>
    client.send(`${vault}/upload`, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body: sent });
  expect((await send({ Origin: 'https://evil.example' })).status).toBe(403);
  expect((await send({ Origin: hub.url }, body.subarray(0, body.length - 20))).status).toBe(422);
  expect((await send({ Origin: hub.url, 'Content-Type': 'multipart/form-data' })).status).toBe(415);
  expect((await send({ Origin: hub.url, 'Content-Type': 'text/plain' })).status).toBe(415);
  expect(await bytesOf(client, vault, 'a.txt')).toBe(404);
});

test('[WEB-12, KEY-8] nothing is written into a vault of another account', async () => {
  const { client, vault } = await member();
  const other = await member();
  await other.client.open(`${other.vault}/new`);
  const fields = other.client.fieldsOf(`${other.vault}/save`, { path: 'a.md', content: 'x' });
  await other.client.open(other.vault);
  const csrf = other.client.form(`${other.vault}/upload`).fields.get('csrf') ?? '';
  expect((await other.client.post(`${vault}/save`, fields)).status).toBe(404);
  expect((await upload(other.client, vault, { csrf, folder: '' }, [['a.md', Buffer.from('x')]])).status).toBe(404);
  for (const path of ['/new', '/edit?path=a.md']) expect((await other.client.open(vault + path)).status).toBe(404);
  expect(await bytesOf(client, vault, 'a.md')).toBe(404);
});

test('[WEB-20] an editor opened on a version says who changed the file since and what, and keeps its text', async () => {
  const { client, device, vault } = await member();
  const vaultId = vault.slice(vault.lastIndexOf('/') + 1);
  const base = await device.push('a.md', 'one\ntwo\nthree\n', { vault_id: vaultId });
  await client.open(filePage(vault, 'a.md'));
  const [, edit = ''] = /href="([^"]*\/edit\?[^"]*)"/.exec(client.html) ?? [];
  const address = edit.replaceAll('&amp;', '&');
  await client.open(address);
  expect(client.html).toContain('data-live="vaults"');
  expect(client.text).not.toContain('changed this file');
  const shown = () => ['base', 'content'].map((name) => client.fieldsOf(`${vault}/save`).get(name));
  const before = shown();
  await device.push('a.md', 'one\ntwo\nthree by agent\n', { vault_id: vaultId, base_sha: base.sha256 });
  await client.open(address);
  expect(client.text).toContain(`${device.name} changed this file`);
  expect(client.html).toContain('three<b> by agent</b>');
  expect(shown()).toEqual(before);
  await client.submit(`${vault}/save`, { content: 'one of mine\ntwo\nthree\n' });
  expect(await bytesOf(client, vault, 'a.md')).toBe('one of mine\ntwo\nthree by agent\n');
});
