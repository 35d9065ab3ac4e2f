/** Speaks the certificate mirror: accounts, credentials, signed uploads. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { control } from './control.ts';
import { type Answer, call } from './http.ts';
import type { Hub } from './hub.ts';

export interface Account {
  readonly account_id: string;
  readonly email: string;
  readonly account_key: string;
  readonly mcp_key: string;
}

export interface Credential {
  readonly token: string;
  readonly hmac_secret: string;
}

/** Makes an account, as `cairn account create` does beside a running hub. */
export function account(hub: Hub, email = `${randomBytes(6).toString('hex')}@example.org`): Promise<Account> {
  return control(hub, { command: 'account.create', email });
}

/** Issues the account's mirror credential; `rotate` replaces it. */
export async function credential(hub: Hub, key: string, rotate = false): Promise<Credential> {
  const answer = await call(hub, '/api/cert_mirror/credentials', {
    method: 'POST',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ rotate }),
  });
  if (answer.status !== 200) throw new Error(`issue failed: ${answer.text}`);
  return answer.json() as unknown as Credential;
}

/** An account with a fresh credential. */
export async function mirrorAccount(hub: Hub): Promise<Account & Credential> {
  const made = await account(hub);
  return { ...made, ...(await credential(hub, made.mcp_key)) };
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const randomCommit = (): string => randomBytes(20).toString('hex');

/** The headers of a correct upload of `bytes`. The key of the HMAC is the secret's text, as `openssl dgst -hmac` takes it. */
export function uploadHeaders(
  { token, hmac_secret }: Credential,
  commitSha: string,
  bytes: Uint8Array,
): Record<string, string> {
  return {
    Authorization: `McpKey ${token}`,
    'Content-Type': 'application/octet-stream',
    'X-Commit-Sha': commitSha,
    'X-Tarball-Sha256': sha256(bytes),
    'X-Mirror-Signature': `sha256=${createHmac('sha256', hmac_secret).update(bytes).digest('hex')}`,
  };
}

/** Uploads; `headers` override or, as undefined, leave out. */
export function upload(
  hub: Pick<Hub, 'url'>,
  who: Credential,
  commitSha: string,
  bytes: Uint8Array,
  headers: Record<string, string | undefined> = {},
): Promise<Answer> {
  return call(hub, '/api/cert_mirror', {
    method: 'POST',
    headers: { ...uploadHeaders(who, commitSha, bytes), ...headers },
    body: bytes,
  });
}

export function get(hub: Hub, who: Pick<Credential, 'token'>, path: string, headers: Record<string, string> = {}) {
  return call(hub, `/api/cert_mirror${path}`, { headers: { Authorization: `McpKey ${who.token}`, ...headers } });
}

export function download(hub: Hub, who: Pick<Credential, 'token'>, commitSha: string, headers = {}) {
  return get(hub, who, `/${commitSha}/download`, headers);
}
