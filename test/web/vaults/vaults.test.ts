/** The pages of vaults with a browser without script: files, what they hold, their versions, bringing one back. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { callTool, PASSWORD } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { RawClient } from '../../support/raw-client.ts';
import { Device, type Pushed, sha256Of } from '../../support/sync.ts';

let hub: Hub;
let count = 0;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  const verified = await hub.cli('verify', '--json');
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
});

async function member(): Promise<{ client: PageClient; device: Device }> {
  count += 1;
  const client = await signedUp(hub, `vault${count}@example.org`, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  return { client, device: new Device(hub, key) };
}

const push = (device: Device, path: string, content: string, more: object = {}) =>
  device.result<Pushed>('sync_push', device.pushOf(path, content, more));

const filePage = (vaultId: string, path: string, more = '') =>
  `/vaults/${vaultId}/file?path=${encodeURIComponent(path)}${more}`;

/** The paths of files that a page lists. */
const listed = ({ html }: PageClient) =>
  [...html.matchAll(/<a href="[^"]*\/file\?path=([^"&]*)"/g)].map(([, path = '']) =>
    decodeURIComponent(path.replaceAll('+', ' ')),
  );

/** The folders that a page lists. */
const folderLinks = ({ html }: PageClient) =>
  [...html.matchAll(/<a class="folder" href="[^"]*\?folder=([^"&]*)"/g)].map(([, path = '']) =>
    decodeURIComponent(path.replaceAll('+', ' ')),
  );

test('[WEB-1] a newcomer to vaults is told how to begin, makes one, and finds it by its name in any case', async () => {
  const { client } = await member();
  await client.open('/vaults');
  expect(client.text).toContain('No vault yet');
  await client.submit('/vaults', { name: '  Notes ' });
  expect(client.text).toContain('Vault created.');
  expect(client.text).toContain('No files yet');
  const made = client.path;
  await client.open('/vaults');
  await client.submit('/vaults', { name: 'NOTES' });
  expect([client.path, client.text]).toEqual([made, expect.stringContaining('This vault already exists')]);
  await client.open('/vaults');
  const visible = 'must not contain control, bidi or zero-width characters';
  for (const [name, wrong] of [
    ['', 'must not be empty'],
    [' ', 'must not be empty'],
    ['x'.repeat(101), 'must have at most 100 characters'],
    ['a\u0007b', visible],
    ['a\u202eb', visible],
    ['a\u200bb', visible],
  ]) {
    expect((await client.submit('/vaults', { name: name ?? '' })).status).toBe(422);
    expect(client.text).toContain(`Name of a new vault ${wrong}`);
  }
});

test.each(['', ' ', 'x'.repeat(101), 'a\u0007b', 'a\u202eb', 'a\u200bb', '👩‍👩‍👧 family', 'نوت‌ها', ' 한글 '])(
  '[WEB-1, SYN-1] the page and the tool agree on the vault name %j',
  async (name) => {
    const { client, device } = await member();
    const byTool = await callTool(hub, 'vault_create', { name }, device.key);
    await client.open('/vaults');
    const byPage = await client.submit('/vaults', { name });
    // The page finds the vault that the tool made.
    expect(byPage.status === 422).toBe(byTool.error !== undefined);
    if (byTool.error === undefined) expect(client.text).toContain('This vault already exists');
  },
);

test('[WEB-1] files are listed in order, found by a part or a pattern, and shown with what they hold', async () => {
  const { client, device } = await member();
  const { vault_id: vault } = await push(device, 'notes/today.md', 'Buy milk & <b>bread</b>\n');
  for (const path of ['README.md', 'notes/old.txt', 'src/ünï côde & more.md']) await push(device, path, path);
  await client.open(`/vaults/${vault}`);
  expect([folderLinks(client), listed(client)]).toEqual([['notes', 'src'], ['README.md']]);
  await client.open(`/vaults/${vault}?folder=SRC`);
  expect([folderLinks(client), listed(client)]).toEqual([[], ['src/ünï côde & more.md']]);
  expect((await client.open(`/vaults/${vault}?folder=nowhere`)).status).toBe(404);
  expect((await client.open(`/vaults/${vault}?folder=${'x/'.repeat(3000)}x`)).status).toBe(422);
  expect((await client.open(`/vaults/${vault}?q=n&after=${'x'.repeat(5000)}`)).status).toBe(200);
  for (const [search, found] of [
    ['NOTES/', ['notes/old.txt', 'notes/today.md']],
    ['*.md', ['notes/today.md', 'README.md', 'src/ünï côde & more.md']],
    ['CÔDE', ['src/ünï côde & more.md']],
    ['nothing', []],
  ] as const) {
    await client.open(`/vaults/${vault}?q=${encodeURIComponent(search)}`);
    expect([search, ...listed(client)]).toEqual([search, ...found]);
  }
  expect(client.text).toContain('No file matches.');
  await client.open(filePage(vault, 'NOTES/today.md'));
  expect(client.html).toContain('<p>Buy milk &#x26; <b>bread</b></p>');
  await client.open(filePage(vault, 'NOTES/today.md', '&view=source'));
  expect(client.html.replace(/<[^>]*>/g, '')).toContain('Buy milk &amp; &lt;b&gt;bread&lt;/b&gt;');
  const bytes = await client.send(`/vaults/${vault}/bytes?path=notes%2Ftoday.md`);
  expect([bytes.text, bytes.headers['content-type'], bytes.headers['content-disposition']]).toEqual([
    'Buy milk & <b>bread</b>\n',
    'application/octet-stream',
    "attachment; filename*=UTF-8''today.md",
  ]);
  expect(bytes.headers['content-security-policy']).toContain('sandbox');
});

test('[WEB-16] a folder tells its size, when it changed last, and who changed it, at all depths', async () => {
  const { client, device } = await member();
  const { vault_id: vault } = await push(device, 'deep/a/b/one.md', '12345');
  const phone = new Device(hub, device.key, 'phone-of-ada');
  await push(phone, 'deep/two.md', '1234567');
  await push(device, 'deeper.md', 'not below it');
  const row = async () => {
    await client.open(`/vaults/${vault}`);
    const [, found = ''] = /<a class="folder"([\s\S]*?)<\/tr>/.exec(client.html) ?? [];
    return found.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  };
  expect(await row()).toMatch(/deep 12 bytes · 2 items .*ago|now phone-of-ada/);
  expect(await row()).toContain('phone-of-ada');
  await device.push('deep/two.md', '', {
    deleted: true,
    content: undefined,
    sha256: undefined,
    base_sha: sha256Of('1234567'),
  });
  expect(await row()).toContain('5 bytes · 1 item');
  expect(await row()).not.toContain('phone-of-ada');
});

test('[WEB-1, WEB-13] what is not text is offered for download, and text of any size is shown in parts', async () => {
  const { client, device } = await member();
  const binary = Buffer.from([0, 1, 2, 250, 251]);
  const { vault_id: vault } = await push(device, 'logo.bin', binary.toString('base64'), {
    encoding: 'base64',
    sha256: sha256Of(binary),
  });
  const large = randomBytes(limits.fileBytesMax / 2).toString('hex');
  await push(device, 'large.txt', large);
  const long = 'é'.repeat(limits.shownTextCharsMax + 10);
  await push(device, 'long.txt', long);
  await push(device, 'empty.txt', '');
  for (const [path, says] of [
    ['logo.bin', 'Binary file.'],
    ['large.txt', 'Part 1 of 40, line 1'],
    ['long.txt', 'Part 1 of 2, line 1'],
    ['empty.txt', 'The file is empty.'],
  ] as const) {
    await client.open(filePage(vault, path));
    expect([path, client.text]).toEqual([path, expect.stringContaining(says)]);
  }
  for (const [path, content] of [
    ['logo.bin', binary],
    ['large.txt', Buffer.from(large)],
    ['long.txt', Buffer.from(long)],
    ['empty.txt', Buffer.alloc(0)],
  ] as const) {
    const { bytes } = await client.send(`/vaults/${vault}/bytes?path=${path}`);
    expect([path, bytes.equals(content)]).toEqual([path, true]);
  }
});

test('[WEB-1, SYN-7] every version can be looked at and brought back, a deleted file too', async () => {
  const { client, device } = await member();
  const path = 'plan.md';
  const first = await push(device, path, 'first plan');
  const second = await push(device, path, 'second plan', { base_sha: first.sha256 });
  const vault = first.vault_id;
  await client.open(filePage(vault, path, `&seq=${first.seq}`));
  expect(client.text).toContain('first plan');
  expect(client.text).toContain(`Version 1, not current`);
  await client.submit(`/vaults/${vault}/restore`);
  expect(client.text).toContain(`Version 1 was restored.`);
  expect(client.text).toContain('first plan');
  const stale = new URLSearchParams({ path, seq: String(second.seq), base: second.sha256 });
  stale.set('csrf', client.forms[0]?.fields.get('csrf') ?? '');
  await client.post(`/vaults/${vault}/restore`, stale);
  await client.open(filePage(vault, path));
  expect(client.text).toContain('The file changed after you opened this page, so nothing was saved.');
  expect(client.text).toContain('first plan');
  await device.result('sync_push', {
    path,
    deleted: true,
    base_sha: first.sha256,
    hlc: device.clock(),
    device_id: 'x',
  });
  await client.open(filePage(vault, path));
  expect(client.text).toContain('The file was deleted.');
  expect((await client.send(`/vaults/${vault}/bytes?path=${path}`)).status).toBe(404);
  await client.open(`/vaults/${vault}`);
  expect(listed(client)).toEqual([]);
  await client.open(filePage(vault, path));
  const back = client.forms.find(({ fields }) => fields.get('seq') === String(second.seq));
  await client.post(`/vaults/${vault}/restore`, back?.fields ?? new URLSearchParams());
  await client.open(filePage(vault, path));
  expect(client.text).toContain('second plan');
});

test('[WEB-1, LIM-2] many versions and many files are shown page by page, each once', async () => {
  const { client, device } = await member();
  let last = await push(device, 'busy.md', '0');
  for (let made = 1; made < limits.versionRowsPerPage + 5; made += 1) {
    last = await push(device, 'busy.md', String(made), { base_sha: last.sha256 });
  }
  const vault = last.vault_id;
  const seqs = new Set<string>();
  let next: string | undefined = filePage(vault, 'busy.md');
  for (let pages = 0; next !== undefined; pages += 1) {
    await client.open(next);
    for (const [, seq = ''] of client.text.matchAll(/version (\d+), /g)) seqs.add(seq);
    next = /<a href="([^"]*)">Older versions<\/a>/.exec(client.html)?.[1]?.replaceAll('&amp;', '&');
    expect(pages).toBeLessThan(3);
  }
  expect(seqs.size).toBe(limits.versionRowsPerPage + 5);
  const paths = Array.from(
    { length: limits.fileRowsPerPage + 3 },
    (_, index) => `many/${String(index).padStart(4, '0')}`,
  );
  await Promise.all(paths.map((path) => push(device, path, path)));
  const seen: string[] = [];
  next = `/vaults/${vault}?q=many`;
  for (let pages = 0; next !== undefined; pages += 1) {
    await client.open(next);
    seen.push(...listed(client));
    next = /<a href="([^"]*)">More files<\/a>/.exec(client.html)?.[1]?.replaceAll('&amp;', '&');
    expect(pages).toBeLessThan(3);
  }
  expect(seen).toEqual(paths);
});

test('[WEB-1, LIM-2, NET-7] what downloads hold is bounded, and given back however they end', async () => {
  const own = await startHub({ env: { CAIRN_STREAMS: '1' } });
  const client = await signedUp(own, 'loads@example.org', PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const device = new Device(own, key);
  const large = 'x'.repeat(limits.fileBytesMax);
  const { vault_id: vault } = await push(device, 'large.txt', large);
  const path = `/vaults/${vault}/bytes?path=large.txt`;
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: slow/1\r\nCookie: ${cookie}\r\n\r\n`;
  const times = Math.ceil(limits.pageDownloadBytesMax / limits.fileBytesMax) + 1;
  const slow = await RawClient.open(own);
  const hasBegun = new Promise<void>((resolve) => {
    slow.socket.once('data', () => {
      slow.socket.pause();
      resolve();
    });
  });
  await slow.send(head);
  await hasBegun;
  // Refused each time for the one stream that there is, never for bytes that an earlier refusal still holds.
  for (let turn = 0; turn < times; turn += 1) {
    const refused = await client.send(path);
    expect([turn, refused.status, client.text]).toEqual([
      turn,
      503,
      expect.stringContaining('too many downloads are running'),
    ]);
  }
  slow.destroy();
  await expect.poll(async () => (await client.send(path)).status, { timeout: 20_000 }).toBe(200);
  for (let turn = 0; turn < times; turn += 1) {
    expect((await client.send(path, { method: 'HEAD' })).status).toBe(200);
    expect((await client.send(path)).bytes.length).toBe(large.length);
  }
  await own.stop();
  // The hub reads and decodes the file for each of these requests: half a gigabyte, on a busy machine more than a minute.
}, 300_000);

test('[WEB-1, KEY-8] a vault, a file and a version of another account are not found, like those that are not there', async () => {
  const owner = await member();
  const made = await push(owner.device, 'secret.md', 'secret');
  const other = await member();
  const own = await push(other.device, 'own.md', 'own');
  const { client } = other;
  for (const vault of [made.vault_id, 'v_0000000000000000', 'x', '..%2f']) {
    for (const path of ['', '/file?path=secret.md', '/bytes?path=secret.md', '/conflicts', '/conflicts/x']) {
      const answer = await client.send(`/vaults/${vault}${path}`);
      expect([vault, path, answer.status, answer.text.includes('secret')]).toEqual([vault, path, 404, false]);
    }
    const csrf = client.forms[0]?.fields.get('csrf') ?? '';
    const fields = new URLSearchParams({ csrf, path: 'secret.md', seq: '1', base: '' });
    expect((await client.post(`/vaults/${vault}/restore`, fields)).status).toBe(404);
  }
  for (const query of ['path=secret.md', 'path=own.md&seq=999', 'path=', 'path=..%2Fown.md', 'path=own.md&before=99']) {
    const answer = await client.send(`/vaults/${own.vault_id}/file?${query}`);
    expect([query, answer.status >= 404 && answer.status <= 422]).toEqual([query, true]);
  }
});

test('[WEB-4] markup in a path, a device or a vault is shown as text', async () => {
  const { client, device } = await member();
  const evil = new Device(hub, device.key, '<img src=x onerror=alert(1)>');
  const path = `a'&#39;${encodeURIComponent('<script>')}/javascript&#58;alert(1).md`;
  const { vault_id: vault } = await push(evil, path, '</code></pre><script>alert(1)</script>');
  await client.open('/vaults');
  await client.submit('/vaults', { name: '"><script>alert(1)</script>' });
  const pages = [client.html];
  for (const page of ['/vaults', `/vaults/${vault}`, filePage(vault, path)]) {
    await client.open(page);
    pages.push(client.html);
  }
  expect(client.text).toContain(path);
  for (const html of pages) {
    expect(html.match(/<script/g)).toEqual(['<script']);
    expect(html).not.toContain('<img');
  }
});

test('[WEB-13] Markdown is shown rendered or as source, and an image only when its bytes are one', async () => {
  const { client, device } = await member();
  const { vault_id: vault } = await push(device, 'notes/a.md', '# Plan\n\n<script>alert(1)</script>\n\n![p](p.png)\n');
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  await push(device, 'notes/p.png', png.toString('base64'), { encoding: 'base64', sha256: sha256Of(png) });
  const active = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';
  for (const path of ['fake.png', 'a.svg', 'a.html']) await push(device, path, active);
  await client.open(filePage(vault, 'notes/a.md'));
  expect(client.html).toContain('<h2 id="h-plan">Plan</h2>');
  expect(client.html).not.toContain('alert(1)');
  expect(client.html).toContain(`<img src="/vaults/${vault}/raw?path=notes%2Fp.png" alt="p" loading="lazy">`);
  await client.open(filePage(vault, 'notes/a.md', '&view=source'));
  expect(client.html.replace(/<[^>]*>/g, '')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  const raw = await client.send(`/vaults/${vault}/raw?path=notes%2Fp.png`);
  expect([raw.status, raw.bytes.equals(png)]).toEqual([200, true]);
  expect(raw.headers).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'inline',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
  });
  for (const path of ['fake.png', 'a.svg', 'a.html', 'notes/a.md']) {
    const refused = await client.send(`/vaults/${vault}/raw?path=${encodeURIComponent(path)}`);
    expect([path, refused.status, client.html.includes('<svg xmlns')]).toEqual([path, 404, false]);
    await client.open(filePage(vault, path));
    expect([path, client.html.includes('<svg xmlns')]).toEqual([path, false]);
  }
});

test('[WEB-16] a vault is renamed, and deleted once its exact name is typed', async () => {
  const { client, device } = await member();
  const { vault_id: vault } = await push(device, 'a.md', 'x');
  const page = `/vaults/${vault}`;
  await device.result('vault_create', { name: 'Other' });
  await client.open(page);
  expect((await client.submit(`${page}/name`, { name: 'Other' })).status).toBe(422);
  expect((await client.submit(`${page}/name`, { name: ' ' })).status).toBe(422);
  await client.submit(`${page}/name`, { name: ' Letters ' });
  expect([client.path, client.text]).toEqual([page, expect.stringContaining('Vault renamed.')]);
  expect(client.text).toContain('1 file with all versions');
  for (const name of ['', 'letters', 'primary', vault]) {
    expect((await client.submit(`${page}/end`, { name })).status).toBe(422);
    // Not in the panel, which is closed again.
    expect(client.html).toMatch(/<p class="error" role="alert">Enter the exact name of the vault\./);
  }
  expect((await client.submit(`${page}/history`, { days: 'x', name: 'letters' })).status).toBe(422);
  expect(client.html).toMatch(/<p class="error" role="alert">Enter a number of days/);
  // Nobody else's: a foreign vault answers like an unknown one.
  const other = (await member()).client;
  await other.open('/vaults');
  const { fields } = other.form('/vaults');
  for (const form of ['name', 'end']) {
    fields.set('name', form === 'end' ? 'Letters' : 'Mine');
    expect((await other.post(`${page}/${form}`, fields)).status).toBe(404);
  }
  await client.submit(`${page}/end`, { name: 'Letters' });
  expect(client.path).toBe('/vaults');
  expect(client.text).toContain('The vault “Letters” was deleted permanently.');
  expect((await client.open(page)).status).toBe(404);
  expect(await device.result('vault_list', {})).toMatchObject({ vaults: [{ name: 'Other' }] });
});
