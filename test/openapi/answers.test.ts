/** Proves that the running hub answers as its OpenAPI document says: each operation, taken and refused. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, structured } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account, mirrorAccount, randomCommit, uploadHeaders } from '../support/mirror.ts';
import { inWorkingOrder } from '../support/tool-examples.ts';
import { ApiDocument, Client } from './support.ts';

let hub: Hub;
let document: ApiDocument;
let client: Client;
let credential: { token: string; hmac_secret: string };

beforeAll(async () => {
  // Counted, so that the headers of the rate limit are there to look at.
  hub = await startHub({ env: { CAIRN_RATE_LIMIT: '1000000' } });
  document = await ApiDocument.of(hub);
  const owner = await mirrorAccount(hub);
  const made = await hub.cli('token', 'create', '--email', owner.email, '--json');
  const { access_token: token } = JSON.parse(made.stdout) as { access_token: string };
  credential = owner;
  client = new Client(hub, document, {
    McpKey: `McpKey ${owner.mcp_key}`,
    MirrorToken: `McpKey ${owner.token}`,
    AccessToken: `Bearer ${token}`,
  });
});

afterAll(() => hub.stop());

/** Operations that have this response of their own. */
const withAnswer = (status: number) =>
  document.operations.filter(({ responses }) => responses[String(status)] !== undefined);

test('[TOOL-3, NET-1] the probes and the document', async () => {
  await client.send('getHealth', 200);
  await client.send('getReady', 200);
  const whole = await client.send('getOpenApi', 200);
  await client.send('getOpenApi', 304, { headers: { 'If-None-Match': String(whole.headers['etag']) } });
});

test('[TOOL-3, OAUTH-2] what tells where to sign in', async () => {
  for (const { operationId, path } of document.operations) {
    if (path.startsWith('/.well-known/')) await client.send(operationId, 200);
  }
});

test('[TOOL-3, NET-5] every operation is refused in the documented form: framing, agent, credential, media type', async () => {
  for (const { operationId } of withAnswer(400)) {
    await client.send(operationId, 400, { headers: { 'Transfer-Encoding': 'gzip' } });
  }
  for (const { operationId } of withAnswer(403)) {
    await client.send(operationId, 403, { headers: { 'User-Agent': 'curl/8', Origin: 'https://elsewhere.example' } });
  }
  for (const { operationId } of withAnswer(401)) {
    await client.send(operationId, 401, { authorization: 'McpKey nobody' });
  }
  for (const { operationId } of withAnswer(415)) {
    await client.send(operationId, 415, { body: 'text', headers: { 'Content-Type': 'text/plain' } });
  }
  const unrefused = document.operations.filter(({ operationId }) => !client.seen.get(operationId)?.has(400));
  expect(unrefused).toEqual([]);
});

test('[TOOL-3] every tool, by its own example, in an order in which all work', async () => {
  const tools = document.operations.filter(({ tags }) => tags.includes('tools'));
  let vaultId = '';
  for (const operationId of inWorkingOrder(tools.map((tool) => tool.operationId))) {
    const { requestBody, security } = document.operation(operationId);
    const example = requestBody?.content['application/json']?.example as Record<string, unknown>;
    // Nobody can know the id of a vault before it is made.
    const body = example['vault_id'] === undefined ? example : { ...example, vault_id: vaultId };
    const answer = await client.send(operationId, 200, { body });
    if (operationId === 'vault_create') vaultId = String(answer.json()['vault_id']);
    await client.send(operationId, 422, { body: { ...body, no_such_argument: 1 } });
    const isOpen = security.some((schemes) => Object.keys(schemes).length === 0);
    await client.send(operationId, isOpen ? 422 : 401, { body: { no_such_argument: 1 }, authorization: null });
  }
  await client.send('update_task', 404, { body: { id: 4711 } });
  await client.send('login_and_get_key', 401, { body: { email: 'you@example.org', password: 'wrong horse' } });
});

test('[TOOL-3, RPC-1, RPC-3, RPC-4, RPC-5] the gateway: every example, a notification, lines, refusals', async () => {
  const examples = document.operation('rpc').requestBody?.content['application/json']?.examples ?? {};
  for (const { value } of Object.values(examples)) {
    await client.send('rpc', 200, { body: value });
    await client.send('rpc', 200, { body: value, headers: { Accept: 'application/x-ndjson' } });
  }
  await client.send('rpc', 202, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  await client.send('rpcSignedIn', 200, { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
  await client.send('rpcSignedIn', 202, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  await client.send('rpc', 200, { body: { ...list, method: 'no/such' } });
  await client.send('rpc', 200, { body: '{', headers: { 'Content-Type': 'application/json' } });
  await client.send('rpc', 400, { body: list, headers: { 'MCP-Protocol-Version': '1999-01-01' } });
  const call = { ...list, method: 'tools/call', params: { name: 'list_tasks', arguments: {} } };
  await client.send('rpc', 401, { body: call, authorization: null });
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  for (const door of ['rpc', 'rpcSignedIn']) {
    await client.send(door, 404, {
      body: { ...list, method: 'no/such', params: { _meta: meta } },
      headers: { 'MCP-Protocol-Version': version, 'Mcp-Method': 'no/such' },
    });
  }
});

test('[TOOL-3, KEY-3] the account', async () => {
  await client.send('getAccount', 200);
  await client.send('updateAccount', 200, { body: { timezone: 'Asia/Seoul' } });
  await client.send('updateAccount', 422, { body: { timezone: 'Mars/Base' } });
  await client.send('updateAccount', 200, { body: { timezone: null } });
  await client.send('deleteAccount', 422, { body: { password: PASSWORD } });
  const leaver = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', {
    email: 'leaver@example.org',
    password: PASSWORD,
  });
  const authorization = `McpKey ${leaver.mcp_key}`;
  await client.send('deleteAccount', 200, { authorization, body: { password: PASSWORD } });
});

test('[TOOL-3, OAUTH-1] signing in a device', async () => {
  const form = (fields: Record<string, string>) => ({
    body: new URLSearchParams(fields).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  const codes = (await client.send('deviceAuthorization', 200, form({ client_id: 'cli', scope: 'mcp' }))).json();
  await client.send('deviceAuthorization', 400, form({ client_id: 'cli', scope: 'admin' }));
  const poll = form({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: String(codes['device_code']),
    client_id: 'cli',
  });
  await client.send('token', 400, poll);
  const { email } = await account(hub);
  await hub.cli('device', 'approve', String(codes['user_code']), '--email', email);
  const tokens = (await client.send('token', 200, poll)).json();
  const refresh = { grant_type: 'refresh_token', refresh_token: String(tokens['refresh_token']), client_id: 'cli' };
  const next = (await client.send('token', 200, form(refresh))).json();
  await client.send('revoke', 200, form({ token: String(next['refresh_token']) }));
  await client.send('revoke', 400, form({}));
  await client.send('registerClient', 201, { body: { redirect_uris: ['http://127.0.0.1/callback'] } });
  await client.send('registerClient', 400, { body: {} });
});

test('[TOOL-3, TASK-3, TASK-4] tasks', async () => {
  const make = async (body: object) => (await client.send('tasksCreate', 201, { body })).json() as { id: number };
  const { id } = await make({ content: 'Grüße 😀', due_date: '2026-12-01', is_important: true });
  await make({ content: 'x', due_date: null, category_id: null, kanban_status: 'in_progress', completed: false });
  await client.send('tasksCreate', 422, { body: { content: '', nonsense: 1 } });
  await client.send('tasksCreate', 413, { body: { content: 'x'.repeat(2 ** 20) } });
  await client.send('tasksCreate', 400, { body: '{', headers: { 'Content-Type': 'application/json' } });
  await client.send('tasksList', 200);
  const query = { due_date_from: '2026-12-01', sort_by: 'content', sort_order: 'desc', per_page: '1' };
  await client.send('tasksList', 200, { query });
  await client.send('tasksList', 422, { query: { per_page: '0', completed: 'maybe' } });
  await client.send('tasksGet', 200, { path: { id } });
  await client.send('tasksGet', 404, { path: { id: 4711 } });
  await client.send('tasksUpdate', 200, { path: { id }, body: { completed: true } });
  await client.send('tasksUpdate', 409, { path: { id }, body: { content: 'late', expected_version: 1 } });
  await client.send('tasksUpdate', 422, { path: { id }, body: { completed: true, kanban_status: 'todo' } });
  await client.send('tasksUpdate', 404, { path: { id: 4711 }, body: {} });
  await client.send('tasksDelete', 204, { path: { id } });
  await client.send('tasksDelete', 404, { path: { id } });
});

test('[TOOL-3, CAT-1] categories', async () => {
  const body = { name: 'Work', color: '#AABBCC', position: 2 };
  const { id } = (await client.send('categoriesCreate', 201, { body })).json() as { id: number };
  await client.send('categoriesCreate', 422, { body });
  await client.send('categoriesList', 200);
  await client.send('categoriesGet', 200, { path: { id } });
  await client.send('categoriesGet', 404, { path: { id: 4711 } });
  await client.send('categoriesUpdate', 200, { path: { id }, body: { color: null } });
  await client.send('categoriesUpdate', 422, { path: { id }, body: { position: -1 } });
  await client.send('categoriesUpdate', 404, { path: { id: 4711 }, body: {} });
  await client.send('categoriesDelete', 204, { path: { id } });
  await client.send('categoriesDelete', 404, { path: { id } });
});

test('[TOOL-3, PAPER-1] papers', async () => {
  const make = async (body: object) => (await client.send('papersCreate', 201, { body })).json() as { id: number };
  const { id } = await make({ title: 'On cairns', content: '# Grüße 😀', category_id: null, published: true });
  await make({ title: 'A draft' });
  await client.send('papersCreate', 422, { body: { content: 1, nonsense: 1 } });
  const tooLong = { 'Content-Length': String(7 * 2 ** 20 + 1) };
  await client.send('papersCreate', 413, { body: { title: 'x' }, headers: tooLong });
  await client.send('papersList', 200);
  await client.send('papersList', 200, { query: { published: 'true', include_content: 'true', limit: '1' } });
  await client.send('papersList', 422, { query: { limit: '0', published: 'maybe' } });
  await client.send('papersGet', 200, { path: { id } });
  await client.send('papersGet', 404, { path: { id: 4711 } });
  await client.send('papersUpdate', 200, { path: { id }, body: { content: 'more', expected_version: 1 } });
  await client.send('papersUpdate', 409, { path: { id }, body: { content: 'more', expected_version: 1 } });
  await client.send('papersUpdate', 422, { path: { id }, body: { title: '' } });
  await client.send('papersUpdate', 404, { path: { id: 4711 }, body: {} });
  await client.send('papersPublish', 200, { path: { id }, body: { published: false } });
  await client.send('papersPublish', 422, { path: { id }, body: {} });
  await client.send('papersPublish', 404, { path: { id: 4711 }, body: { published: true } });
  await client.send('papersDelete', 204, { path: { id } });
  await client.send('papersDelete', 404, { path: { id } });
});

test('[TOOL-3, MIR-7, MIR-11, MIR-12, MIR-13, MIR-15] the mirror', async () => {
  await client.send('mirrorLatest', 404);
  const sha = randomCommit();
  const bytes = Buffer.from('an encrypted tarball');
  const headers = { ...uploadHeaders(credential, sha, bytes), 'X-Uploaded-By': 'ci' };
  await client.send('mirrorUpload', 200, { body: bytes, headers });
  await client.send('mirrorUpload', 422, { body: bytes, headers: { ...headers, 'X-Commit-Sha': 'HEAD' } });
  await client.send('mirrorUpload', 411, { body: bytes, headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
  const next = randomCommit();
  await client.send('mirrorUpload', 200, { body: bytes, headers: uploadHeaders(credential, next, bytes) });
  await client.send('mirrorList', 200);
  const page = await client.send('mirrorList', 200, { query: { limit: '1' } });
  expect(page.headers['link']).toMatch(/rel="next"/);
  await client.send('mirrorList', 422, { query: { limit: '0' } });
  await client.send('mirrorLatest', 200);
  await client.send('mirrorLatest', 422, { query: { repository_id: 'website' } });
  await client.send('mirrorRepositories', 200);
  await client.send('mirrorRepositories', 422, { query: { limit: '0' } });
  const path = { sha };
  const whole = await client.send('mirrorDownload', 200, { path });
  const etag = String(whole.headers['etag']);
  await client.send('mirrorDownload', 206, { path, headers: { Range: 'bytes=0-3', 'If-Range': etag } });
  await client.send('mirrorDownload', 304, { path, headers: { 'If-None-Match': etag } });
  await client.send('mirrorDownload', 416, { path, headers: { Range: 'bytes=4711-' } });
  await client.send('mirrorDownload', 404, { path: { sha: randomCommit() } });
});

test('[TOOL-3, MIR-1, MIR-2, MIR-4, MIR-5, MIR-14] the mirror credential', async () => {
  const { mcp_key: key } = await account(hub);
  const authorization = `McpKey ${key}`;
  const made = (await client.send('mirrorIssueCredential', 200, { authorization, body: {} })).json();
  await client.send('mirrorIssueCredential', 200, { authorization });
  await client.send('mirrorIssueCredential', 422, { authorization, body: { rotate: 'yes' } });
  const own = made as unknown as typeof credential;
  const sha = randomCommit();
  const bytes = Buffer.from('signed by a credential that is rotated next');
  await client.send('mirrorUpload', 200, {
    authorization: `McpKey ${own.token}`,
    body: bytes,
    headers: uploadHeaders(own, sha, bytes),
  });
  const rotated = (await client.send('mirrorIssueCredential', 200, { authorization, body: { rotate: true } })).json();
  const orphan = { path: { sha }, authorization: `McpKey ${String(rotated['token'])}` };
  await client.send('mirrorDownload', 422, orphan);
  await client.send('mirrorArchiveHeader', 422, orphan);
  await client.send('mirrorDeleteCredential', 200, { authorization });
  await client.send('mirrorDeleteCredential', 404, { authorization });
});

test('[TOOL-3, MIR-26, MIR-27] rotation, upload-only credentials and drills', async () => {
  const { mcp_key: key } = await account(hub);
  const authorization = `McpKey ${key}`;
  await client.send('mirrorRotateCredential', 404, { authorization, body: {} });
  await client.send('mirrorCreateUploader', 404, { authorization, body: { name: 'ci' } });
  const own = (await client.send('mirrorIssueCredential', 200, { authorization, body: {} })).json();
  const sha = randomCommit();
  const bytes = Buffer.from('restored and checked');
  const headers = uploadHeaders(own as unknown as typeof credential, sha, bytes);
  const { sha256 } = (await client.send('mirrorUpload', 200, { body: bytes, headers })).json();
  const drill = { repository_id: 'unknown', commit_sha: sha, sha256, outcome: 'proven' };
  for (let time = 0; time < 2; time += 1) await client.send('mirrorRecordDrill', 201, { authorization, body: drill });
  await client.send('mirrorRecordDrill', 422, { authorization, body: { ...drill, commit_sha: randomCommit() } });
  await client.send('mirrorListDrills', 200, { authorization, query: { limit: '1' } });
  await client.send('mirrorListDrills', 422, { authorization, query: { limit: '0' } });
  const made = (await client.send('mirrorCreateUploader', 201, { authorization, body: { name: 'ci' } })).json();
  await client.send('mirrorCreateUploader', 422, { authorization, body: { name: '' } });
  for (let number = 1; number < 50; number += 1)
    await client.send('mirrorCreateUploader', 201, { authorization, body: { name: 'ci' } });
  await client.send('mirrorCreateUploader', 409, { authorization, body: { name: 'ci' } });
  await client.send('mirrorListUploaders', 200, { authorization });
  await client.send('mirrorRevokeUploader', 204, { authorization, path: { id: String(made['id']) } });
  await client.send('mirrorRevokeUploader', 404, { authorization, path: { id: String(made['id']) } });
  await client.send('mirrorCredential', 200, { authorization });
  await client.send('mirrorRotateCredential', 422, { authorization, body: [] });
  await client.send('mirrorRotateCredential', 200, { authorization, body: {} });
});

test('[TOOL-3, MIR-28, MIR-29] what an upload continues, and archives that are removed', async () => {
  const { mcp_key: key } = await account(hub);
  const authorization = `McpKey ${key}`;
  const own = (await client.send('mirrorIssueCredential', 200, { authorization, body: {} })).json();
  const mirror = { authorization: `McpKey ${String(own['token'])}` };
  const put = async (bytes: Buffer) => {
    const commit_sha = randomCommit();
    const headers = uploadHeaders(own as unknown as typeof credential, commit_sha, bytes);
    const { sha256 } = (await client.send('mirrorUpload', 200, { body: bytes, headers })).json();
    return { commit_sha, sha256 };
  };
  const [older, newest] = [
    await put(Buffer.from('age-encryption.org/v1\n-> X25519 a\nb\n--- c\nencrypted')),
    await put(Buffer.from('no header')),
  ];
  await client.send('mirrorListUploads', 200, { ...mirror, query: { repository_id: '0'.repeat(64) } });
  await client.send('mirrorListUploads', 422, { ...mirror, query: { repository_id: 'website' } });
  await client.send('mirrorArchiveHeader', 200, { ...mirror, path: { sha: older.commit_sha } });
  await client.send('mirrorArchiveHeader', 404, { ...mirror, path: { sha: newest.commit_sha } });
  await client.send('mirrorRemoveArchives', 422, { ...mirror, body: { archives: [newest] } });
  await client.send('mirrorRemoveArchives', 200, { ...mirror, body: { archives: [older] } });
});

test('[TOOL-3, FIND-1] what is searched and read by its id', async () => {
  const { id } = (await client.send('tasksCreate', 201, { body: { content: 'Water the orchid' } })).json();
  await client.send('searchThings', 200, { query: { query: 'orchid' } });
  await client.send('searchThings', 422);
  await client.send('fetchThing', 200, { query: { id: `cairn://tasks/${String(id)}` } });
  await client.send('fetchThing', 422, { query: { id: '' } });
});

test('[TOOL-3, EVENT-1] what changed', async () => {
  await client.send('listEvents', 200, { query: { after: 'now' } });
  await client.send('listEvents', 422, { query: { after: 'x' } });
});

test('[TOOL-3, EVENT-3] webhooks', async () => {
  const body = { url: 'https://hooks.example.org/cairn', kinds: ['backup'] };
  const { id } = (await client.send('webhooksCreate', 201, { body })).json();
  const path = { id: String(id) };
  await client.send('webhooksCreate', 422, { body: { url: 'ftp://hooks.example.org/' } });
  await client.send('webhooksList', 200);
  await client.send('webhooksGet', 200, { path });
  await client.send('webhooksUpdate', 200, { path, body: { kinds: null, enabled: false } });
  await client.send('webhooksUpdate', 422, { path, body: { enabled: 1 } });
  await client.send('webhooksRotateSecret', 200, { path });
  await client.send('webhooksDelete', 204, { path });
  for (const operation of ['webhooksGet', 'webhooksRotateSecret', 'webhooksDelete'])
    await client.send(operation, 404, { path });
  await client.send('webhooksUpdate', 404, { path, body: {} });
});

test('[TOOL-3, LIM-1] too many calls are refused in the form of each surface', async () => {
  const slow = await startHub({ env: { CAIRN_RATE_LIMIT: '1' } });
  try {
    const caller = new Client(slow, document, {});
    await caller.send('getOpenApi', 200);
    await caller.send('getOpenApi', 429);
    await caller.send('get_setup_guide', 429, { body: {} });
    await caller.send('rpc', 429, { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
    await caller.send('getHealth', 200);
  } finally {
    await slow.stop();
  }
});

test('[SYN-38, TOOL-3] chunks of large files: stored, listed, read, and refused', async () => {
  const { vault_id: vault } = (await client.send('sync_list', 200, { body: {} })).json();
  const bytes = Buffer.from('a chunk');
  const path = { vault_id: String(vault), hash: createHash('sha256').update(bytes).digest('hex') };
  const headers = { 'Content-Type': 'application/octet-stream' };
  await client.send('missingChunks', 200, { path, body: { sha256: [path.hash] } });
  await client.send('putChunk', 200, { path, headers, body: bytes });
  await client.send('getChunk', 200, { path });
  await client.send('putChunk', 422, { path, headers, body: Buffer.from('another') });
  const elsewhere = { ...path, vault_id: `v_${'0'.repeat(16)}` };
  await client.send('getChunk', 422, { path: elsewhere });
  for (const odd of [{ vault_id: 'v' }, { hash: 'x' }]) {
    await client.send('putChunk', 404, { path: { ...path, ...odd }, headers, body: bytes });
    await client.send('getChunk', 404, { path: { ...path, ...odd } });
  }
  await client.send('missingChunks', 404, { path: { ...path, vault_id: 'v' }, body: { sha256: [path.hash] } });
});

/** Refusals of an operation itself; those of every operation, such as 401, were sent to each of them. */
const OWN_REFUSALS = ['404', '409', '416', '422'];

test('[EVENT-2] each operation with an idempotency key refuses one that it cannot use', async () => {
  const keyed = document.operations.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  expect(keyed.length).toBeGreaterThan(15);
  for (const { operationId } of keyed) await client.send(operationId, 422, { headers: { 'Idempotency-Key': 'a b' } });
});

test('[TOOL-3] each answer that an operation declares was seen above, and each refusal of its own', () => {
  const missing = document.operations.flatMap(({ operationId, responses, tags }) => {
    const seen = client.seen.get(operationId) ?? new Set();
    // A tool declares what any tool may refuse.
    const own = tags.includes('tools') ? [] : OWN_REFUSALS;
    const declared = Object.keys(responses).filter((status) => Number(status) < 400 || own.includes(status));
    return [...declared, '400']
      .filter((status) => !seen.has(Number(status)))
      .map((status) => `${operationId} ${status}`);
  });
  expect(missing).toEqual([]);
});
