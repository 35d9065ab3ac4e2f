/** Signs an OAuth client in as a browser and a client would: registration, consent page, code, tokens. */
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, call } from './http.ts';
import type { Hub } from './hub.ts';
import { postForm } from './oauth.ts';
import type { PageClient } from './page-client.ts';

export const REDIRECT = 'http://127.0.0.1:7777/callback';

export interface Proof {
  readonly verifier: string;
  readonly challenge: string;
}

export function newProof(): Proof {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export function registerRaw(hub: Pick<Hub, 'url'>, document: unknown): Promise<Answer> {
  return call(hub, '/oauth/register', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  });
}

/** Registers a client and returns its client_id. */
export async function register(hub: Pick<Hub, 'url'>, ...redirects: readonly string[]): Promise<string> {
  const redirect_uris = redirects.length === 0 ? [REDIRECT] : redirects;
  const answer = await registerRaw(hub, { client_name: 'Test agent', redirect_uris });
  if (answer.status !== 201) throw new Error(`registration failed: ${answer.text}`);
  return String(answer.json()['client_id']);
}

type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The query of a good request with these parameters changed; undefined leaves one out, a list repeats it. */
export function queryOf(clientId: string, { challenge }: Proof, changes: Changes = {}): string {
  const good = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'state-1',
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries<Changes[string]>({ ...good, ...changes })) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) query.append(name, one);
  }
  return query.toString();
}

/** Answers the consent page; the redirect that follows, unfollowed. */
export async function consent(
  browser: PageClient,
  query: string,
  fields: Readonly<Record<string, string>> = { answer: 'authorize' },
): Promise<URL> {
  const page = await browser.open(`/oauth/authorize?${query}`);
  if (page.status !== 200) throw new Error(`no consent page: ${page.status} ${browser.text}`);
  const answer = await browser.post('/oauth/authorize', browser.fieldsOf('/oauth/authorize', fields));
  return new URL(answer.headers['location'] as string);
}

/** Exchanges a code with these parameters changed. */
export function redeem(
  hub: Pick<Hub, 'url'>,
  clientId: string,
  code: string,
  { verifier }: Proof,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const good = {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
  };
  const fields = Object.entries({ ...good, ...changes }).filter((one): one is [string, string] => one[1] !== undefined);
  return postForm(hub, '/oauth/token', Object.fromEntries(fields));
}
