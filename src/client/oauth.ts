/** Owns what the command line says to a hub's token endpoint (RFC 6749, 8628, 7009), and how its answers are read. */
import { z } from 'zod';
import { ClientError } from './client-error.ts';
import { type ClientAnswer, refusalOf, send } from './http.ts';

/** The name that the command line signs in under. */
const CLIENT_ID = 'cairn';

const tokenSchema = z.object({
  access_token: z.string().min(1),
  token_type: z.literal('Bearer'),
  expires_in: z.number().positive(),
  refresh_token: z.string().min(1),
  scope: z.string().optional(),
  mcp_key: z.string().optional(),
});

export type TokenAnswer = z.infer<typeof tokenSchema>;

/** Exchanges a refresh token for the next pair. Throws Refused `invalid_grant` when it opens nothing any more. */
export async function refreshTokens(server: string, refreshToken: string): Promise<TokenAnswer> {
  return await askToken(server, { grant_type: 'refresh_token', refresh_token: refreshToken });
}

/** A refusal of the token endpoint by its code (RFC 6749, 5.2). */
export class Refused extends ClientError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

async function askToken(server: string, fields: Readonly<Record<string, string>>): Promise<TokenAnswer> {
  const answer = await postForm(server, '/oauth/token', { ...fields, client_id: CLIENT_ID });
  const parsed = tokenSchema.safeParse(answer.json());
  if (parsed.success) return parsed.data;
  throw new ClientError(`${server} gave tokens in a form that this cairn does not know; update one of them.`);
}

async function postForm(server: string, path: string, fields: Readonly<Record<string, string>>): Promise<ClientAnswer> {
  const answer = await send(server, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  if (answer.status === 200) return answer;
  const refused = errorSchema.safeParse(answer.json());
  if (answer.status === 400 && refused.success) {
    const { error, error_description: detail } = refused.data;
    throw new Refused(error, `${server} refused: ${detail ?? error}.`);
  }
  throw refusalOf(server, answer);
}

const errorSchema = z.object({ error: z.string(), error_description: z.string().optional() });
