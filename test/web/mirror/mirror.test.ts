/** The page of the mirror with a browser without script: the credential and its secrets, the blobs and their bytes. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Credential, download, randomCommit, sha256, upload } from '../../support/mirror.ts';
import { PageClient, signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let count = 0;

async function member(): Promise<PageClient> {
  count += 1;
  const client = await signedUp(hub, `mirror${count}@example.org`, PASSWORD);
  await client.open('/mirror');
  return client;
}

/** The secrets that the page shows now. */
const shown = ({ text }: PageClient) => [...text.matchAll(/\b[0-9a-f]{64}\b/g)].map(([secret]) => secret);

async function makeCredential(client: PageClient): Promise<Credential> {
  await client.submit('/mirror/credential');
  const [token = '', secret = ''] = shown(client);
  return { token, hmac_secret: secret };
}

test('[WEB-1, MIR-1] a credential is made, its secrets are shown once, and they sign an upload', async () => {
  const client = await member();
  expect(client.text).toContain('No backups yet');
  const made = await makeCredential(client);
  expect(made.token).not.toBe(made.hmac_secret);
  await client.open('/mirror');
  expect(shown(client)).toEqual([]);
  const commit = randomCommit();
  expect((await upload(hub, made, commit, randomBytes(1000), { 'X-Uploaded-By': 'ci & <co>' })).status).toBe(200);
  await client.open('/mirror');
  expect(client.text).toContain(commit.slice(0, 12));
  expect(client.text).toContain('1000 bytes');
  expect(client.text).toContain('ci & <co>');
});

test('[WEB-1, MIR-2] the token is shown again when asked for, the secret never', async () => {
  const client = await member();
  const made = await makeCredential(client);
  await client.submit('/mirror/credential');
  expect(shown(client)).toEqual([made.token]);
});

test('[WEB-1, MIR-13, MIR-15] a blob is downloaded whole, in part, and not again when it is known', async () => {
  const client = await member();
  const made = await makeCredential(client);
  const [commit, bytes] = [randomCommit(), randomBytes(2_500_000)];
  await upload(hub, made, commit, bytes);
  await client.open('/mirror');
  const [, href = ''] = /href="(\/mirror\/[0-9a-f]{40}\/download[^"]*)"/.exec(client.html) ?? [];
  const whole = await client.send(href);
  expect(whole.bytes.equals(bytes)).toBe(true);
  expect(whole.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${commit}.bin`,
    'content-length': String(bytes.length),
    'x-content-type-options': 'nosniff',
    etag: `"${sha256(bytes)}"`,
  });
  const part = await client.send(href, { headers: { Range: 'bytes=100-199' } });
  expect([part.status, part.bytes.equals(bytes.subarray(100, 200))]).toEqual([206, true]);
  const known = await client.send(href, { headers: { 'If-None-Match': String(whole.headers.etag) } });
  expect([known.status, known.bytes.length]).toEqual([304, 0]);
  expect((await client.send(href, { method: 'HEAD' })).headers['content-length']).toBe(String(bytes.length));
});

test('[WEB-1, MIR-3, MIR-14] replacing the credential shows a new pair, and what was signed before is not handed out', async () => {
  const client = await member();
  const old = await makeCredential(client);
  const commit = randomCommit();
  await upload(hub, old, commit, randomBytes(10));
  await client.open('/mirror');
  expect(client.text).toContain('1 archive becomes unreadable until uploaded again.');
  const rotate = client.forms.find(({ html }) => html.includes('name="rotate" value="true"'));
  await client.post('/mirror/credential', rotate?.fields ?? new URLSearchParams());
  await client.open('/mirror');
  const [token, secret] = shown(client);
  expect([token === old.token, secret === old.hmac_secret]).toEqual([false, false]);
  expect((await download(hub, old, commit)).status).toBe(401);
  expect(client.text).toContain('earlier credential');
  expect(client.html).not.toContain(`/mirror/${commit}/download`);
  expect((await client.send(`/mirror/${commit}/download`)).status).toBe(422);
});

test('[WEB-1, MIR-5] deleting the credential ends it, and the page offers a new one', async () => {
  const client = await member();
  const made = await makeCredential(client);
  await client.open('/mirror');
  await client.submit('/mirror/credential/delete');
  expect(client.text).toContain('Credential deleted.');
  expect(client.text).toContain('Create the credential');
  expect((await upload(hub, made, randomCommit(), randomBytes(10))).status).toBe(401);
  const fields = client.fieldsOf('/mirror/credential');
  expect((await client.post('/mirror/credential/delete', fields)).status).toBe(404);
  expect((await client.send(`/mirror/${randomCommit()}/download`)).status).toBe(422);
});

test('[WEB-1, KEY-8] a blob of another account, and one that is nobody’s, are not found', async () => {
  const owner = await member();
  const commit = randomCommit();
  await upload(hub, await makeCredential(owner), commit, randomBytes(10));
  const other = await member();
  await makeCredential(other);
  for (const sha of [commit, randomCommit(), 'x', '..%2f..']) {
    expect([sha, (await other.send(`/mirror/${sha}/download`)).status]).toEqual([sha, 404]);
  }
  expect((await new PageClient(hub).send(`/mirror/${commit}/download`)).status).toBe(303);
});

test('[WEB-1, LIM-2] many blobs are shown page by page', async () => {
  const client = await member();
  const made = await makeCredential(client);
  const commits = Array.from({ length: limits.blobRowsPerPage + 3 }, randomCommit);
  for (const commit of commits) await upload(hub, made, commit, randomBytes(10));
  const seen = new Set<string>();
  let next: string | undefined = '/mirror';
  for (let pages = 0; next !== undefined; pages += 1) {
    await client.open(next);
    for (const [, commit = ''] of client.html.matchAll(/title="commit ([0-9a-f]{40})"/g)) seen.add(commit);
    next = /<a href="(\/mirror\?before=\d+)">Older<\/a>/.exec(client.html)?.[1];
    expect(pages).toBeLessThan(3);
  }
  expect([...seen]).toEqual(commits.reverse());
  expect((await client.open('/mirror?before=nonsense')).status).toBe(200);
});

test('[WEB-1, MIR-26] replacing the credential keeps archives readable unless they are to be locked', async () => {
  const client = await member();
  const old = await makeCredential(client);
  const [commit, bytes] = [randomCommit(), randomBytes(10)];
  await upload(hub, old, commit, bytes);
  await client.open('/mirror');
  const keep = client.forms.find(({ html }) => html.includes('name="rotate" value="keep"'));
  await client.post('/mirror/credential', keep?.fields ?? new URLSearchParams());
  await client.open('/mirror');
  const [token = ''] = shown(client);
  expect(token).not.toBe(old.token);
  expect((await download(hub, { token }, commit)).bytes.equals(bytes)).toBe(true);
  expect((await download(hub, old, commit)).status).toBe(401);
});

test('[WEB-1, MIR-26] a credential for CI is made and revoked, and its archives stay', async () => {
  const client = await member();
  await makeCredential(client);
  await client.open('/mirror');
  await client.submit('/mirror/uploaders', { name: 'github <actions>' });
  const [token = '', hmac_secret = ''] = shown(client);
  const commit = randomCommit();
  expect((await upload(hub, { token, hmac_secret }, commit, randomBytes(10))).status).toBe(200);
  await client.open('/mirror');
  expect(client.text).toContain('github <actions>');
  await client.submit('/mirror/uploaders/revoke');
  expect((await upload(hub, { token, hmac_secret }, randomCommit(), randomBytes(10))).status).toBe(401);
  await client.open('/mirror');
  expect(client.html).toContain(`/mirror/${commit}/download`);
});

test('[WEB-1, MIR-27] the page groups archives by repository, with the last proven restore', async () => {
  const client = await member();
  const made = await makeCredential(client);
  const repository = 'a'.repeat(64);
  const named = { 'X-Repository-Id': repository, 'X-Repository-Label': 'web & <site>', 'X-Archive-Kind': 'repository' };
  const [commit, bytes, other] = [randomCommit(), randomBytes(10), randomCommit()];
  await upload(hub, made, commit, bytes, named);
  await upload(hub, made, randomCommit(), randomBytes(10), { ...named, 'X-Archive-Base': sha256(bytes) });
  await upload(hub, made, other, randomBytes(10));
  await client.open('/mirror');
  for (const text of ['web & <site>', '2 archives', 'no restore proven yet', 'Unknown repository', 'increment'])
    expect(client.text).toContain(text);
  const drill = { repository_id: repository, commit_sha: commit, sha256: sha256(bytes), outcome: 'proven' };
  const headers = { Authorization: `McpKey ${made.token}`, 'Content-Type': 'application/json' };
  await call(hub, '/api/cert_mirror/drills', { method: 'POST', headers, body: JSON.stringify(drill) });
  await client.open(`/mirror?repository=${repository}`);
  expect(client.text).toContain('last proven restore');
  expect(client.html).toContain(commit);
  expect(client.html).not.toContain(other);
});
