/** A folder is downloaded as a tar archive, and unpacked by the system's tar. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PASSWORD, structured } from '../../../support/gateway.ts';
import { FORM_TYPE, type PageClient, signedUp } from '../../../support/page-client.ts';
import { Device, sha256Of } from '../../../support/sync.ts';
import { useHub } from '../../../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });

async function download(client: PageClient, path: string): Promise<Buffer> {
  const cookies = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(`${hub.url}${path}`, { headers: { Cookie: cookies, 'User-Agent': 'cairn-test/1' } });
  expect([path, answer.status]).toEqual([path, 200]);
  return Buffer.from(await answer.arrayBuffer());
}

/** Every file that an archive unpacks to. */
function unpacked(archive: Buffer): Map<string, { text: string; mode: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-tar-'));
  try {
    execFileSync('tar', ['-x', '-f', '-', '-C', folder], { input: archive });
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    return new Map(
      found.map((one) => {
        const path = join(one.parentPath, one.name);
        const entry = { text: readFileSync(path, 'utf8'), mode: statSync(path).mode % 0o1000 };
        return [path.slice(folder.length + 1), entry];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('[WEB-1, KEY-8] a folder unpacks with all its files, whatever they are called, and nothing else', async () => {
  const client = await signedUp(hub, 'tar@example.org', PASSWORD);
  const device = new Device(hub, /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '', 'desktop');
  const files = new Map([
    ['notes/one.md', 'one\n'],
    ['notes/empty', ''],
    ['notes/deep/한국어 🌱.md', '안녕\n'],
    [`notes/${'long-folder/'.repeat(12)}${'n'.repeat(99)}.md`, 'long\n'],
    ['notes/block', 'x'.repeat(512)],
  ]);
  let vault = '';
  for (const [path, text] of files) vault = (await device.push(path, text)).vault_id;
  await device.push('other/two.md', 'two');
  await device.push('notes-2/three.md', 'three');
  const gone = await device.push('notes/gone.md', 'gone');
  await device.result('sync_push', device.deleteOf('notes/gone.md', { base_sha: gone.sha256 }));
  const notes = unpacked(await download(client, `/vaults/${vault}/tar?folder=notes`));
  expect(new Map([...notes].map(([path, { text }]) => [path, text]))).toEqual(files);
  expect([...notes.values()].every(({ mode }) => (mode & 0o133) === 0)).toBe(true);
  expect(
    unpacked(await download(client, `/vaults/${vault}/tar?folder=notes%2Fdeep`))
      .keys()
      .next().value,
  ).toBe('deep/한국어 🌱.md');
  expect(unpacked(await download(client, `/vaults/${vault}/tar`)).size).toBe(files.size + 2);
  await client.open(`/vaults/${vault}?folder=notes`);
  expect(client.html).toContain(`href="/vaults/${vault}/tar?folder=notes"`);
  for (const path of [`/vaults/${vault}/tar?folder=nowhere`, '/vaults/nothing/tar']) {
    expect([path, (await client.send(path)).status]).toEqual([path, 404]);
  }
  const stranger = await signedUp(hub, 'tar-stranger@example.org', PASSWORD);
  expect((await stranger.send(`/vaults/${vault}/tar`)).status).toBe(404);
});

test('[WEB-1] whatever the vault and the spelling of a folder, files unpack below the folder of the download', async () => {
  const client = await signedUp(hub, 'tar-names@example.org', PASSWORD);
  const device = new Device(hub, /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '', 'desktop');
  const { vault_id: vault } = (await device.result('vault_create', { name: '..' })) as { vault_id: string };
  const push = (path: string) =>
    device.result('sync_push', { path, content: path, sha256: sha256Of(path), base_sha: '', vault_id: vault });
  await push('Stra\u00dfe/x/a.txt');
  await push('b.txt');
  const files = ['b.txt', 'Stra\u00dfe/x/a.txt'];
  const all = unpacked(await download(client, `/vaults/${vault}/tar`));
  expect([...all.keys()].sort()).toEqual(files.map((path) => `vault/${path}`).sort());
  const other = unpacked(await download(client, `/vaults/${vault}/tar?folder=strasse%2Fx`));
  expect([...other.keys()]).toEqual(['x/a.txt']);
});

test('[WEB-1, OPS-13] the settings export everything of an account as one archive, which another account is made of', async () => {
  const client = await signedUp(hub, 'leaving@example.org', PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const device = new Device(hub, key, 'desktop');
  const first = await device.push('notes/plan.md', 'first plan');
  await device.push('notes/plan.md', 'second plan', { base_sha: first.sha256 });
  await structured(hub, 'create_task', { content: 'Pack the boxes' }, key);
  await client.open('/settings');
  const cookies = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = async (fields: URLSearchParams) =>
    await fetch(`${hub.url}/settings/export`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: cookies, 'Content-Type': FORM_TYPE, Origin: hub.url, 'User-Agent': 'cairn-test/1' },
      body: fields.toString(),
    });
  expect((await send(new URLSearchParams())).status).toBe(403);
  const answer = await send(client.fieldsOf('/settings/export'));
  expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
    200,
    expect.stringMatching(/^attachment; filename="cairn-export-\d{4}-\d\d-\d\d\.tar"$/),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'cairn-export-'));
  try {
    execFileSync('tar', ['-x', '-f', '-', '-C', folder], { input: Buffer.from(await answer.arrayBuffer()) });
    const [name = ''] = readdirSync(folder);
    const text = readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
      .join('\n');
    expect([text.includes('first plan'), text.includes('Pack the boxes'), text.includes(key)]).toEqual([
      true,
      true,
      false,
    ]);
    const imported = await hub.cli('import', join(folder, name), '--email', 'arrived@example.org', '--json');
    const arrived = /[0-9a-f]{64}/.exec(imported.stdout)?.[0] ?? '';
    expect([imported.code, imported.stderr, arrived.length]).toEqual([0, '', 64]);
    expect(await structured(hub, 'list_tasks', {}, arrived)).toMatchObject({ count: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
  const plain = await send(new URLSearchParams([...client.fieldsOf('/settings/export'), ['plain', 'true']]));
  expect(plain.headers.get('content-disposition')).toMatch(/^attachment; filename="cairn-files-\d{4}-\d\d-\d\d\.tar"$/);
  const own = [...unpacked(Buffer.from(await plain.arrayBuffer()))];
  const textAt = (path: string) => own.find(([name]) => name.endsWith(`/${path}`))?.[1].text;
  expect([textAt('files/primary/notes/plan.md'), textAt('tasks.csv')]).toEqual([
    'second plan',
    expect.stringContaining('Pack the boxes'),
  ]);
  await client.open('/settings');
  expect(client.text).toContain('Account exported');
  // Nothing of the archive stays on the hub.
  while (readdirSync(join(hub.dataFolder, 'exports')).length > 0) await client.open('/settings');
});

test('[WEB-1, OPS-13] of two exports at once one is refused in words, and one that is cut off leaves nothing and blocks nothing', async () => {
  const client = await signedUp(hub, 'twice@example.org', PASSWORD);
  const device = new Device(hub, /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '', 'desktop');
  // More than the buffers of a connection hold, so that a download can be cut off.
  for (let part = 0; part < 6; part += 1) await device.push(`part-${part}.txt`, String(part).repeat(4 * 2 ** 20));
  await client.open('/settings');
  const cookies = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const fields = client.fieldsOf('/settings/export').toString();
  const send = async (signal: AbortSignal | null = null) =>
    await fetch(`${hub.url}/settings/export`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: cookies, 'Content-Type': FORM_TYPE, Origin: hub.url, 'User-Agent': 'cairn-test/1' },
      body: fields,
      signal,
    });
  const reading = new AbortController();
  const cut = await send(reading.signal);
  expect(cut.status).toBe(200);
  const second = await send();
  expect([second.status, second.headers.get('location')]).toEqual([303, '/settings']);
  await client.open('/settings');
  expect(client.text).toContain('another export is being made or downloaded');
  reading.abort();
  while (readdirSync(join(hub.dataFolder, 'exports')).length > 0) await client.open('/settings');
  // The folder is gone before the place of the export is free.
  let third = await send();
  while (third.status === 303) third = await send();
  expect([third.status, (await third.arrayBuffer()).byteLength > 24 * 2 ** 20]).toEqual([200, true]);
});
