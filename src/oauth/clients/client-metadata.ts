/**
 * Reads the metadata of a client: the body of a registration (RFC 7591, section 2) and a client ID metadata document
 * have the same members. Clients are public: they have no secret, and only their redirect URI is checked. Pure.
 */
import { limits } from '../../limits/service.ts';
import { oauthRefusal, readLabel } from '../rules.ts';
import { checkRedirectUri } from './redirect-uri.ts';

export interface ClientMetadata {
  readonly client_name: string | null;
  readonly redirect_uris: readonly string[];
}

/** Reads the members used by this service. Throws Refusal `invalid_redirect_uri` or `invalid_client_metadata`. */
export function readClientMetadata(value: unknown): ClientMetadata {
  const refuse = (detail: string) => oauthRefusal('invalid_client_metadata', detail);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse('the client metadata must be a JSON object');
  }
  const members = value as Readonly<Record<string, unknown>>;
  const uris = members['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > limits.redirectUrisMax) {
    throw oauthRefusal('invalid_redirect_uri', `redirect_uris must contain 1 to ${limits.redirectUrisMax} URIs`);
  }
  if (!uris.every((uri) => typeof uri === 'string')) {
    throw oauthRefusal('invalid_redirect_uri', 'redirect_uris must contain strings');
  }
  return { client_name: readName(members['client_name']), redirect_uris: uris.map(checkRedirectUri) };
}

/** Throws Refusal for grants and response types without the code flow: such a client could never sign in. */
export function checkFlows(value: Readonly<Record<string, unknown>>): void {
  const { grant_types: grants, response_types: responses } = value;
  if (grants !== undefined && !listHolds(grants, 'authorization_code')) {
    throw oauthRefusal('invalid_client_metadata', 'grant_types must include authorization_code');
  }
  if (responses !== undefined && !listHolds(responses, 'code')) {
    throw oauthRefusal('invalid_client_metadata', 'response_types must include code');
  }
}

function readName(name: unknown): string | null {
  if (name === undefined || name === null) return null;
  if (typeof name !== 'string') throw oauthRefusal('invalid_client_metadata', 'client_name must be a string');
  if (name.trim() === '') return null;
  try {
    return readLabel('client_name', name, limits.deviceNameCharsMax);
  } catch {
    const detail = `client_name must have at most ${limits.deviceNameCharsMax} printable characters`;
    throw oauthRefusal('invalid_client_metadata', detail);
  }
}

function listHolds(list: unknown, wanted: string): boolean {
  return Array.isArray(list) && list.includes(wanted);
}
