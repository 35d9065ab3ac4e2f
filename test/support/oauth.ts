/** Speaks the OAuth endpoints as a client without a library would: forms out, JSON back. */
import { control } from './control.ts';
import { type Answer, call } from './http.ts';
import type { Hub } from './hub.ts';
import type { Account } from './mirror.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const CLIENT = 'cairn-test';

export interface DeviceCodes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
  readonly mcp_key?: string;
}

type Fields = Readonly<Record<string, string>>;

/** Posts a form: fields, or a body as it is. */
export function postForm(
  hub: Pick<Hub, 'url'>,
  path: string,
  fields: Fields | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return call(hub, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  });
}

/** Asks for codes; throws when the hub refuses. */
export async function askDevice(hub: Pick<Hub, 'url'>, fields: Fields = {}): Promise<DeviceCodes> {
  const answer = await postForm(hub, '/oauth/device_authorization', { client_id: CLIENT, ...fields });
  if (answer.status !== 200) throw new Error(`device authorization: ${answer.status} ${answer.text}`);
  return answer.json() as unknown as DeviceCodes;
}

export function poll(hub: Pick<Hub, 'url'>, deviceCode: string, clientId = CLIENT): Promise<Answer> {
  const fields = { grant_type: DEVICE_GRANT, device_code: deviceCode, client_id: clientId };
  return postForm(hub, '/oauth/token', fields);
}

export function refresh(hub: Pick<Hub, 'url'>, token: string, fields: Fields = {}): Promise<Answer> {
  return postForm(hub, '/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: CLIENT,
    ...fields,
  });
}

export function revoke(hub: Pick<Hub, 'url'>, token: string, fields: Fields = {}): Promise<Answer> {
  return postForm(hub, '/oauth/revoke', { token, ...fields });
}

/** The operator answers for the account. Throws when the hub refuses. */
export async function approve(hub: Hub, userCode: string, email: string, isApproved = true): Promise<void> {
  await control(hub, { command: 'device.answer', email, code: userCode, isApproved });
}

/** A whole device flow, approved by the operator. */
export async function signInDevice(hub: Hub, { email }: Account, fields: Fields = {}): Promise<Tokens> {
  const codes = await askDevice(hub, fields);
  await approve(hub, codes.user_code, email);
  return tokensOf(await poll(hub, codes.device_code));
}

export function tokensOf(answer: Answer): Tokens {
  if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${answer.text}`);
  return answer.json() as unknown as Tokens;
}

/** The status of a refusal and its code. */
export const refusalOf = (answer: Answer): readonly [number, unknown] => [answer.status, answer.json()['error']];

/** Whether an access token opens the account. */
export async function isOpen(hub: Pick<Hub, 'url'>, Authorization: string): Promise<boolean> {
  return (await call(hub, '/api/account', { headers: { Authorization } })).status === 200;
}
