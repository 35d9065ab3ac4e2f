/** What a mirror must answer, kept in memory: the model behind the property test of the mirror. */
import { expect } from 'vitest';
import { type Answer, call } from './http.ts';
import type { Hub } from './hub.ts';
import { type Account, type Credential, get, sha256, upload } from './mirror.ts';
import { type ListedBlob, listAll, UNGROUPED } from './mirror-state.ts';

/** One blob as the model knows it. `generation` counts credentials: another one than the current cannot open it. */
interface ModelBlob {
  readonly listed: ListedBlob;
  readonly bytes: Buffer;
  readonly generation: number;
}

export interface MirrorModel {
  /** Newest first. */
  blobs: readonly ModelBlob[];
  hasCredential: boolean;
  generation: number;
}

/** The hub under test and what a client of it holds. */
export interface MirrorReal {
  hub: Hub;
  readonly account: Account;
  /** The credential last issued; it may be destroyed meanwhile. */
  credential: Credential;
  readonly restart: (how: 'stop' | 'kill') => Promise<void>;
}

interface UploadPlan {
  readonly commit: string;
  readonly bytes: Buffer;
  readonly label: string | undefined;
  readonly flaw: 'none' | 'digest' | 'signature';
}

const KEY_PATH = '/api/cert_mirror/credentials';

export async function issueAsModelled(model: MirrorModel, real: MirrorReal, rotate: boolean): Promise<void> {
  const answer = await call(real.hub, KEY_PATH, {
    method: 'POST',
    headers: { Authorization: `McpKey ${real.account.mcp_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ rotate }),
  });
  expect(answer.status).toBe(200);
  const { status, token, hmac_secret } = answer.json();
  if (model.hasCredential && !rotate) {
    expect({ status, token, hmac_secret }).toEqual({
      status: 'existing',
      token: real.credential.token,
      hmac_secret: null,
    });
    return;
  }
  expect(status).toBe('created');
  expect(token).not.toBe(real.credential.token);
  const former = real.credential;
  real.credential = { token: String(token), hmac_secret: String(hmac_secret) };
  model.hasCredential = true;
  model.generation += 1;
  if (former.token !== '') expect((await get(real.hub, former, '')).status).toBe(401);
}

export async function destroyAsModelled(model: MirrorModel, real: MirrorReal): Promise<void> {
  const headers = { Authorization: `McpKey ${real.account.account_key}` };
  const answer = await call(real.hub, KEY_PATH, { method: 'DELETE', headers });
  expect(answer.status).toBe(model.hasCredential ? 200 : 404);
  model.hasCredential = false;
}

export async function uploadAsModelled(model: MirrorModel, real: MirrorReal, plan: UploadPlan): Promise<void> {
  const { commit, bytes, label, flaw } = plan;
  const answer = await upload(real.hub, real.credential, commit, bytes, {
    'X-Uploaded-By': label,
    ...(flaw === 'digest' ? { 'X-Tarball-Sha256': '0'.repeat(64) } : {}),
    ...(flaw === 'signature' ? { 'X-Mirror-Signature': `sha256=${'0'.repeat(64)}` } : {}),
  });
  if (!model.hasCredential) expect(answer.status).toBe(401);
  else if (flaw !== 'none') expect(answer.status).toBe(422);
  else takeUpload(model, plan, answer);
}

function takeUpload(model: MirrorModel, { commit, bytes, label }: UploadPlan, answer: Answer): void {
  expect(answer.status).toBe(200);
  const { uploaded_at, ...rest } = answer.json();
  const digest = sha256(bytes);
  expect(rest).toEqual({ commit_sha: commit, sha256: digest, byte_size: bytes.length });
  const same = ({ listed }: ModelBlob) => listed.commit_sha === commit && listed.sha256 === digest;
  const known = model.blobs.find(same);
  if (known?.generation === model.generation) {
    expect(uploaded_at).toBe(known.listed.uploaded_at);
    return;
  }
  expect(String(uploaded_at) >= (model.blobs[0]?.listed.uploaded_at ?? '')).toBe(true);
  const listed = {
    commit_sha: commit,
    sha256: digest,
    byte_size: bytes.length,
    uploaded_at: String(uploaded_at),
    uploaded_by: label ?? null,
    ...UNGROUPED,
  };
  const { generation } = model;
  model.blobs = [{ listed, bytes, generation }, ...model.blobs.filter((blob) => !same(blob))];
}

export async function listAsModelled(model: MirrorModel, real: MirrorReal, limit: number | undefined): Promise<void> {
  if (model.hasCredential) {
    expect(await listAll(real.hub, real.credential, limit)).toEqual(model.blobs.map((blob) => blob.listed));
  } else {
    expect((await get(real.hub, real.credential, '')).status).toBe(401);
  }
}

export async function latestAsModelled(model: MirrorModel, real: MirrorReal): Promise<void> {
  const answer = await get(real.hub, real.credential, '/latest');
  const newest = model.blobs[0]?.listed;
  if (!model.hasCredential) {
    expect(answer.status).toBe(401);
  } else if (newest === undefined) {
    expect({ status: answer.status, body: answer.json() }).toEqual({ status: 404, body: { error: 'no blobs yet' } });
  } else {
    const { uploaded_by: _label, ...shown } = newest;
    const download_url = `/api/cert_mirror/${newest.commit_sha}/download`;
    expect({ status: answer.status, body: answer.json() }).toEqual({ status: 200, body: { ...shown, download_url } });
  }
}

/** Downloads the newest blob of a commit, or the one that is made of `picked`. */
export async function downloadAsModelled(
  model: MirrorModel,
  real: MirrorReal,
  commit: string,
  picked: Buffer | undefined,
): Promise<void> {
  const digest = picked && sha256(picked);
  const query = digest === undefined ? '' : `?sha256=${digest}`;
  const answer = await get(real.hub, real.credential, `/${commit}/download${query}`);
  const found = model.blobs.find(
    ({ listed }) => listed.commit_sha === commit && (digest === undefined || listed.sha256 === digest),
  );
  if (!model.hasCredential) expect(answer.status).toBe(401);
  else if (found === undefined) expect(answer.status).toBe(404);
  else if (found.generation !== model.generation) expect(answer.status).toBe(422);
  else {
    expect({ status: answer.status, sha256: answer.headers['x-tarball-sha256'] }).toEqual({
      status: 200,
      sha256: found.listed.sha256,
    });
    expect(answer.bytes.equals(found.bytes)).toBe(true);
  }
}
