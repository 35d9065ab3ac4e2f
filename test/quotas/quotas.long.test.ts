/** What one account may store: quotas by kind, set by the operator, and the part of the disk that is kept for marked accounts. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { callTool, mirrorTool, PASSWORD, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account, credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { tookEverything, until, verified } from '../support/mirror-state.ts';
import { Device } from '../support/sync.ts';

const MiB = 1024 * 1024;

test('[MIR-18] above the quota of blobs an upload is 507 with what is used, and nothing of it is kept', async () => {
  const hub = await startHub({ env: { CAIRN_MIRROR_QUOTA_BYTES: '300000' } });
  const who = await mirrorAccount(hub);
  const commit = randomCommit();
  const first = Buffer.alloc(200_000, 1);
  expect((await upload(hub, who, commit, first)).status).toBe(200);
  for (const bytes of [100_001, 100_002]) {
    const over = await upload(hub, who, randomCommit(), Buffer.alloc(bytes));
    expect([over.status, over.json()['error']]).toEqual([
      507,
      `over the quota of 300000 bytes for mirror blobs: 200000 are used and this needs ${bytes} more; remove earlier backups with \`cairn backups prune\`, or ask the operator of this hub for a larger quota`,
    ]);
  }
  // What takes no more room is a retry as ever; the last byte fits.
  expect((await upload(hub, who, commit, first)).status).toBe(200);
  expect((await upload(hub, who, randomCommit(), Buffer.alloc(100_000))).status).toBe(200);
  const other = await mirrorAccount(hub);
  expect((await upload(hub, other, randomCommit(), first)).status).toBe(200);
  expect(await verified(hub)).toMatchObject({ ok: true, blobs: 3, staged_uploads: 0 });
  await hub.stop();
});

test('[MIR-18] uploads at once are together no more than the quota', async () => {
  const hub = await startHub({ env: { CAIRN_MIRROR_QUOTA_BYTES: '1000000' } });
  const who = await mirrorAccount(hub);
  const sent = Array.from({ length: 12 }, () => upload(hub, who, randomCommit(), randomBytes(150_000)));
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(6);
  expect(statuses.filter((status) => status === 507)).toHaveLength(6);
  await tookEverything(hub);
  expect(await verified(hub)).toMatchObject({ ok: true, blob_bytes: 900_000, staged_uploads: 0 });
  await hub.stop();
});

test('[OPS-7, MIR-18] the operator gives one account more, or less, at once and for good', async () => {
  const hub = await startHub({ env: { CAIRN_MIRROR_QUOTA_BYTES: '1000', CAIRN_SYNC_QUOTA_BYTES: '1000' } });
  const who = await mirrorAccount(hub);
  const device = new Device(hub, who.mcp_key, 'laptop');
  expect((await upload(hub, who, randomCommit(), Buffer.alloc(5000))).status).toBe(507);
  await expect(device.push('a.md', 'x'.repeat(2000))).rejects.toThrow();
  const args = ['account', 'quota', '--email', who.email, '--blobs', '1MiB', '--files', '4KiB'];
  expect((await hub.cli(...args)).stdout).toContain('1.0 MiB');
  expect((await upload(hub, who, randomCommit(), Buffer.alloc(5000))).status).toBe(200);
  await device.push('a.md', 'x'.repeat(2000));
  await hub.stop();
  const again = await startHub({ dataFolder: hub.dataFolder, env: { CAIRN_MIRROR_QUOTA_BYTES: '1000' } });
  expect((await upload(again, who, randomCommit(), Buffer.alloc(5000))).status).toBe(200);
  await again.cli('account', 'quota', '--email', who.email, '--blobs', 'default');
  expect((await upload(again, who, randomCommit(), Buffer.alloc(5000))).status).toBe(507);
  await again.stop();
});

test('[OPS-7] documents, papers, handoffs and tasks share one quota, and going below it makes room', async () => {
  const hub = await startHub({ env: { CAIRN_DOCUMENT_QUOTA_BYTES: '20000' } });
  const { email, mcp_key: key } = await account(hub);
  const text = 'x'.repeat(4000);
  const tool = (name: string, args: object) => callTool(hub, name, args, key);
  const doc = await structured<{ doc: { id: number } }>(hub, 'create_dev_doc', { title: 'a', content: text }, key);
  await structured(hub, 'handoff_save', { content: text, project: 'p', topic: 't' }, key);
  const { access_token: token } = JSON.parse((await hub.cli('token', 'create', '--email', email, '--json')).stdout);
  const rest = (method: string, path: string, body: object) =>
    call(hub, path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await rest('POST', '/api/papers', { title: 'p', content: text })).status).toBe(201);
  const over = [
    await tool('create_dev_doc', { title: 'b', content: text }),
    await tool('update_dev_doc', { id: doc.doc.id, content: text, mode: 'append' }),
    await tool('handoff_save', { content: text, project: 'q', topic: 't' }),
    await tool('create_task', { content: text }),
  ];
  for (const { error } of over) {
    expect(error).toMatchObject({ code: -32004, data: { quota_bytes: 20_000, used_bytes: 15_072 } });
  }
  const paper = await rest('POST', '/api/papers', { title: 'q', content: text });
  expect([paper.status, paper.text]).toEqual([507, expect.stringContaining('for documents and tasks')]);
  const task = await structured<{ task: { id: number } }>(hub, 'create_task', { content: 'small' }, key);
  expect((await rest('PATCH', `/api/tasks/${task.task.id}`, { content: text })).status).toBe(507);
  expect((await rest('PATCH', `/api/tasks/${task.task.id}`, { content: 'tiny' })).status).toBe(200);
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
});

/** Fills the data file of a hub with a small map until an account is refused. */
async function fillUp(hub: Hub, key: string): Promise<number> {
  const mirror = await credential(hub, key);
  for (let count = 0; count < 60; count += 1) {
    const answer = await upload(hub, mirror, randomCommit(), Buffer.alloc(2 * MiB, count));
    if (answer.status !== 200) return answer.status;
  }
  throw new Error('the map did not fill up');
}

test('[OPS-7] when 95 % of the space is used only marked accounts go on writing, and everybody reads and deletes', async () => {
  const hub = await startHub({ env: { CAIRN_MAP_BYTES: String(400 * MiB) } });
  const operator = await structured<{ email: string; mcp_key: string }>(hub, 'signup_and_get_key', {
    email: 'operator@example.org',
    password: PASSWORD,
  });
  const stranger = await account(hub);
  const device = new Device(hub, stranger.mcp_key, 'laptop');
  await device.push('a.md', 'a');
  const task = await structured<{ task: { id: number } }>(hub, 'create_task', { content: 'early' }, stranger.mcp_key);
  const mirror = await credential(hub, stranger.mcp_key);
  const commit = randomCommit();
  await upload(hub, mirror, commit, Buffer.from('early'));
  const statuses: number[] = [];
  for (let count = 0; count < 250 && statuses.at(-1) !== 507; count += 1) {
    statuses.push((await upload(hub, mirror, randomCommit(), Buffer.alloc(2 * MiB, count))).status);
  }
  // The operator goes beyond the line, so that nobody's small write is just below it.
  const own = await credential(hub, operator.mcp_key);
  for (let count = 0; count < 3; count += 1) {
    expect((await upload(hub, own, randomCommit(), randomBytes(2 * MiB))).status).toBe(200);
  }
  const refused = await upload(hub, mirror, randomCommit(), Buffer.from('small'));
  expect([refused.status, refused.text]).toEqual([507, expect.stringContaining('marked by the operator')]);
  expect((await callTool(hub, 'create_task', { content: 'late' }, stranger.mcp_key)).error?.code).toBe(-32008);
  await expect(device.push('b.md', 'b')).rejects.toThrow();
  // Reading, deleting and signing in go on.
  expect((await download(hub, mirror, commit)).status).toBe(200);
  expect((await mirrorTool(hub, 'delete_task', { id: task.task.id }, withKey(stranger.mcp_key))).status).toBe(200);
  expect((await hub.cli('key', 'create', '--email', stranger.email, '--name', 'more')).code).toBe(0);
  // Whoever is marked writes on.
  await hub.cli('account', 'quota', '--email', stranger.email, '--when-full', 'on');
  expect((await upload(hub, mirror, randomCommit(), Buffer.from('small'))).status).toBe(200);
  await device.push('b.md', 'b');
  await hub.cli('account', 'quota', '--email', stranger.email, '--when-full', 'off');
  expect((await upload(hub, mirror, randomCommit(), Buffer.from('other'))).status).toBe(507);
  // What is deleted makes room for everybody.
  const other = await account(hub);
  const left = await fillUp(hub, other.mcp_key).catch(() => 0);
  expect(left).toBe(507);
  await hub.cli('account', 'delete', '--email', stranger.email, '--confirm', stranger.email);
  const again = await credential(hub, other.mcp_key, true);
  await until('there is room again', async () => {
    const { status } = await upload(hub, again, randomCommit(), Buffer.from('later'));
    return status === 200 ? status : undefined;
  });
  await hub.stop();
});
