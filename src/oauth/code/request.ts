/**
 * Reads an authorization request: OAuth 2.1 with PKCE, `resource` (RFC 8707), exact redirect match. Errors in the
 * client or the redirect URI are shown to the person; all others are returned to the client by redirect. Pure.
 */
import { type OAuthError, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { OAuthClient } from '../clients/clients.ts';
import { isSameRedirect } from '../clients/redirect-uri.ts';
import { oauthRefusal, readScope } from '../rules.ts';
import { isChallenge } from './pkce.ts';

export const NO_RESOURCE = 'resource must be the address of this service or of its MCP endpoint';

/** True for the address of a service, or of one of its protected paths (RFC 8707). */
export function isResourceOf(issuer: string, paths: readonly string[], uri: string): boolean {
  return [issuer, `${issuer}/`, ...paths.map((path) => issuer + path)].includes(uri);
}

/** Scope of a request without a scope. */
const DEFAULT_SCOPE = 'read write';

/** Redirect URI of the response, and the state to repeat in it. */
export interface RedirectTarget {
  readonly redirectUri: string;
  readonly state: string | null;
}

export interface AuthorizationRequest extends RedirectTarget {
  readonly clientId: string;
  /** True when the request contained the URI: the exchange must then repeat it (RFC 6749, section 4.1.3). */
  readonly namesRedirect: boolean;
  readonly challenge: string;
  readonly scope: string;
  readonly resource: string | null;
}

export type ReadRequest =
  | { readonly ok: true; readonly request: AuthorizationRequest }
  /** An error to return to the client. */
  | { readonly ok: false; readonly target: RedirectTarget; readonly error: OAuthError; readonly detail: string };

/** Returns the client_id of a request. Throws Refusal `invalid_request`. */
export function clientIdOf(query: URLSearchParams): string {
  const [clientId, ...others] = query.getAll('client_id');
  if (clientId === undefined || clientId === '' || others.length > 0) {
    throw oauthRefusal('invalid_request', 'client_id must appear exactly once');
  }
  if (clientId.length > limits.redirectUriCharsMax) {
    throw oauthRefusal('invalid_request', `client_id must have at most ${limits.redirectUriCharsMax} characters`);
  }
  return clientId;
}

/** Returns the redirect target. Throws Refusal `invalid_request`: an unregistered URI never receives a response. */
function redirectOf(query: URLSearchParams, client: OAuthClient): RedirectTarget & { namesRedirect: boolean } {
  const asked = query.getAll('redirect_uri');
  const [only, ...more] = client.redirect_uris;
  if (asked.length > 1) throw oauthRefusal('invalid_request', 'redirect_uri must appear at most once');
  const [given] = asked;
  const states = query.getAll('state');
  const state = states.length === 1 ? (states[0] ?? null) : null;
  if (given === undefined || given === '') {
    if (only === undefined || more.length > 0) {
      throw oauthRefusal('invalid_request', 'redirect_uri is required, because the client registered more than one');
    }
    return { redirectUri: only, state, namesRedirect: false };
  }
  if (!client.redirect_uris.some((uri) => isSameRedirect(uri, given))) {
    throw oauthRefusal('invalid_request', 'this client has not registered this redirect_uri');
  }
  return { redirectUri: given, state, namesRedirect: true };
}

/** Reads the other parameters of a known client's request. `isResource`: true for a resource of this service. */
export function readRequest(
  query: URLSearchParams,
  client: OAuthClient,
  isResource: (uri: string) => boolean,
): ReadRequest {
  const target = redirectOf(query, client);
  const refuse = (error: OAuthError, detail: string): ReadRequest => ({ ok: false, target, error, detail });
  for (const name of new Set(query.keys())) {
    if (name !== 'resource' && query.getAll(name).length > 1) {
      return refuse('invalid_request', `${name} must appear at most once`);
    }
  }
  if ((target.state?.length ?? 0) > limits.oauthStateCharsMax) {
    return refuse('invalid_request', `state must have at most ${limits.oauthStateCharsMax} characters`);
  }
  if (query.get('response_type') !== 'code') return refuse('unsupported_response_type', 'response_type must be code');
  const challenge = query.get('code_challenge') ?? '';
  if (query.get('code_challenge_method') !== 'S256' || !isChallenge(challenge)) {
    return refuse('invalid_request', 'PKCE is required: send code_challenge and code_challenge_method=S256');
  }
  // RFC 6749, 3.1: a parameter without a value counts as absent.
  const resources = query.getAll('resource').filter((uri) => uri !== '');
  if (!resources.every(isResource)) {
    return refuse('invalid_target', NO_RESOURCE);
  }
  try {
    const scope = readScope(query.get('scope') || DEFAULT_SCOPE);
    const request = { ...target, clientId: client.client_id, challenge, scope, resource: resources[0] ?? null };
    return { ok: true, request };
  } catch (error) {
    if (error instanceof Refusal && error.fault.kind === 'oauth') return refuse(error.fault.error, error.message);
    throw error;
  }
}

/** Returns the redirect URI with the response: its parameters, the state, and the issuer (RFC 9207). */
export function answerUri(
  { redirectUri, state }: RedirectTarget,
  issuer: string,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set('state', state);
  url.searchParams.set('iss', issuer);
  return url.href;
}
