/** Client of a hub's OAuth endpoints (RFC 6749, 8628, 7009): sends requests and reads the answers. */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { type ClientAnswer, refusalOf, sendRequest } from '../http.ts';

/** Client ID of the command line. */
const CLIENT_ID = 'cairn';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const tokenSchema = z.object({
  access_token: z.string().min(1),
  token_type: z.literal('Bearer'),
  expires_in: z.number().positive(),
  refresh_token: z.string().min(1),
  mcp_key: z.string().optional(),
});

const codesSchema = z.object({
  device_code: z.string().min(1),
  // Both are shown in a terminal, so control characters are not allowed.
  user_code: z.string().regex(/^[A-Z0-9-]{1,32}$/),
  verification_uri: z.url({ protocol: /^https?$/ }),
  verification_uri_complete: z.url({ protocol: /^https?$/ }).optional(),
  expires_in: z.number().positive(),
  interval: z.number().positive().default(5),
});

const errorSchema = z.object({ error: z.string(), error_description: z.string().optional() });

export type IssuedTokens = z.infer<typeof tokenSchema>;
export type DeviceCodes = z.infer<typeof codesSchema>;

/** An error of the token endpoint, by code (RFC 6749, 5.2). */
export class Refused extends ClientError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The hub rejects requests temporarily. */
export class Busy extends ClientError {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Requests the codes for a device sign-in that also issues an MCP key. */
export async function askForCodes(server: string, deviceName: string): Promise<DeviceCodes> {
  const fields = { client_id: CLIENT_ID, device_name: deviceName, scope: 'account mcp' };
  return read(server, codesSchema, await postForm(server, '/oauth/device_authorization', fields));
}

/** Polls once. Throws Refused `authorization_pending` or `slow_down` while the user has not answered. */
export async function pollForTokens(server: string, deviceCode: string): Promise<IssuedTokens> {
  return await askToken(server, { grant_type: DEVICE_GRANT, device_code: deviceCode });
}

/** Exchanges a refresh token for a new token pair. Throws Refused `invalid_grant` when it no longer works. */
export async function refreshTokens(server: string, refreshToken: string): Promise<IssuedTokens> {
  return await askToken(server, { grant_type: 'refresh_token', refresh_token: refreshToken });
}

/** Revokes a refresh token with its sign-in, an access token, or an MCP key. An unknown token is not an error. */
export async function revokeToken(server: string, token: string): Promise<void> {
  await postForm(server, '/oauth/revoke', { token, client_id: CLIENT_ID });
}

async function askToken(server: string, fields: Readonly<Record<string, string>>): Promise<IssuedTokens> {
  return read(server, tokenSchema, await postForm(server, '/oauth/token', { ...fields, client_id: CLIENT_ID }));
}

function read<T>(server: string, schema: z.ZodType<T>, answer: ClientAnswer): T {
  const parsed = schema.safeParse(answer.json());
  if (parsed.success) return parsed.data;
  throw new ClientError(`${server} sent an answer that this version of cairn cannot read; update one of them.`);
}

async function postForm(server: string, path: string, fields: Readonly<Record<string, string>>): Promise<ClientAnswer> {
  const answer = await sendRequest(server, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  if (answer.status === 200) return answer;
  const refused = errorSchema.safeParse(answer.json());
  if (!refused.success) throw refusalOf(server, answer);
  const { error, error_description: detail } = refused.data;
  const sentence = `${server} refused: ${(detail ?? error).replace(/\p{C}/gu, '')}.`;
  if (answer.status === 400) throw new Refused(error, sentence);
  if (answer.status === 429 || answer.status === 503) {
    throw new Busy(sentence, Number(answer.header('retry-after') ?? 1) || 1);
  }
  throw new ClientError(sentence);
}
