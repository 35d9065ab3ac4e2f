/** Restore drills: recorded, listed, and shown with the last backup in groups, to agents, on the page and in metrics. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, structured, textOf } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Credential, get, mirrorAccount, randomCommit, sha256, upload } from '../support/mirror.ts';
import { verified } from '../support/mirror-state.ts';

const METRICS_TOKEN = '0123456789abcdef'.repeat(4);

let hub: Hub;
beforeAll(async () => {
  hub = await startHub({ env: { CAIRN_METRICS_TOKEN: METRICS_TOKEN } });
});
afterAll(() => hub.stop());

const repository = createHash('sha256').update('drilled').digest('hex');

async function send(who: Credential, headers: Record<string, string> = {}) {
  const [commit_sha, bytes] = [randomCommit(), randomBytes(40)];
  expect((await upload(hub, who, commit_sha, bytes, headers)).status).toBe(200);
  return { commit_sha, sha256: sha256(bytes) };
}

async function toldOf(key: string): Promise<string> {
  return textOf(await callTool(hub, 'list_backups', {}, key));
}

function note(key: string, body: object) {
  return call(hub, '/api/cert_mirror/drills', {
    method: 'POST',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('[MIR-27] a drill is recorded with key or token, listed newest first, and shown with its repository', async () => {
  const who = await mirrorAccount(hub);
  const named = { 'X-Repository-Id': repository, 'X-Repository-Label': 'website' };
  const archive = await send(who, named);
  const old = await send(who);
  const body = { repository_id: repository, ...archive, outcome: 'proven' };
  const proven = await note(who.mcp_key, body);
  expect(proven.status).toBe(201);
  expect(proven.json()).toEqual({ id: 1, ...body, detail: null, at: expect.any(String) });
  const failed = await note(who.token, { ...body, outcome: 'failed', detail: 'git fsck: missing blob' });
  expect(failed.json()).toMatchObject({ id: 2, outcome: 'failed', detail: 'git fsck: missing blob' });
  expect((await note(who.account_key, { ...old, repository_id: 'unknown', outcome: 'proven' })).status).toBe(201);
  const all = (await get(hub, who, '/drills')).json()['drills'] as { id: number }[];
  expect(all.map(({ id }) => id)).toEqual([3, 2, 1]);
  const page = await get(hub, who, `/drills?repository_id=${repository}&limit=1`);
  expect(page.json()).toEqual({ drills: [failed.json()] });
  expect(page.headers['link']).toBe(
    `</api/cert_mirror/drills?repository_id=${repository}&limit=1&before=2>; rel="next"`,
  );
  const groups = (await get(hub, who, '/repositories')).json()['repositories'];
  expect(groups).toEqual([
    expect.objectContaining({
      repository_id: repository,
      last_proven: { ...archive, at: proven.json()['at'] },
      last_drill: { outcome: 'failed', detail: 'git fsck: missing blob', at: failed.json()['at'] },
    }),
    expect.objectContaining({ repository_id: null, last_proven: expect.objectContaining(old) }),
  ]);
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test('[MIR-27] a drill of an archive that is not in that repository of the account is refused', async () => {
  const [who, other] = [await mirrorAccount(hub), await mirrorAccount(hub)];
  const archive = await send(who, { 'X-Repository-Id': repository });
  const body = { repository_id: repository, ...archive, outcome: 'proven' };
  const wrong: [string, object][] = [
    [other.mcp_key, body],
    [who.mcp_key, { ...body, repository_id: 'unknown' }],
    [who.mcp_key, { ...body, commit_sha: randomCommit() }],
    [who.mcp_key, { ...body, outcome: 'perhaps' }],
    [who.mcp_key, { ...body, detail: 'x'.repeat(501) }],
  ];
  for (const [key, given] of wrong) expect((await note(key, given)).status).toBe(422);
  expect((await get(hub, who, '/drills')).json()).toEqual({ drills: [] });
  expect((await note('0'.repeat(64), body)).status).toBe(401);
});

test('[MIR-27] an agent is told the last backup of each repository, and whether it was proven', async () => {
  const who = await mirrorAccount(hub);
  expect(await toldOf(who.mcp_key)).toBe('no backups yet');
  const archive = await send(who, { 'X-Repository-Id': repository, 'X-Repository-Label': 'website' });
  const before = await structured(hub, 'list_backups', {}, who.mcp_key);
  expect(before).toEqual({
    backups: [
      {
        repository: 'website',
        repository_id: repository,
        archives: 1,
        bytes: 40,
        last_backup: expect.any(String),
        commit_sha: archive.commit_sha,
        last_proven_restore: null,
        last_drill: null,
      },
    ],
  });
  expect(await toldOf(who.mcp_key)).toContain('restore never proven');
  const { at } = (await note(who.token, { repository_id: repository, ...archive, outcome: 'proven' })).json();
  expect(await toldOf(who.mcp_key)).toContain(`restore proven ${String(at)}`);
});

test('[MIR-27] the metrics show the age of backups and of proofs for the whole hub, without labels of accounts', async () => {
  const scrape = await call(hub, '/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  const seconds = (name: string) =>
    Number(new RegExp(`^cairn_mirror_${name}_timestamp_seconds (\\S+)$`, 'm').exec(scrape.text)?.[1]);
  expect(seconds('newest_upload')).toBeGreaterThanOrEqual(seconds('stalest_upload'));
  expect(seconds('stalest_upload')).toBeGreaterThan(1_700_000_000);
  expect(seconds('stalest_proof')).toBeGreaterThan(1_700_000_000);
  expect(scrape.text).toMatch(/^cairn_mirror_repositories\{drill="proven"\} 2$/m);
  expect(scrape.text).toMatch(/^cairn_mirror_repositories\{drill="failed"\} 1$/m);
  expect(scrape.text).toMatch(/^cairn_mirror_repositories\{drill="never"\} 1$/m);
  expect(scrape.text).not.toContain('website');
});
