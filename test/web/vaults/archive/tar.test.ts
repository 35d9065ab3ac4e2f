/** A folder is downloaded as a tar archive, and unpacked by the system's tar. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PASSWORD } from '../../../support/gateway.ts';
import { type PageClient, signedUp } from '../../../support/page-client.ts';
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
