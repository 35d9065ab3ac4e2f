/** Reads the parameters of requests to the OAuth endpoints (RFC 6749, 3.2). Pure. */
import { limits } from '../limits/service.ts';
import { isDocumentAddress } from './clients/document.ts';
import { isSealedClient } from './clients/sealed-client.ts';
import { oauthRefusal, readLabel } from './rules.ts';

/** Maximum length of a code or token parameter; valid ones are shorter. */
const VALUE_CHARS_MAX = 512;
/** Parameters that may contain an address. */
const ADDRESSES = new Set(['client_id', 'redirect_uri', 'resource']);

export interface Parameters {
  /** Undefined: absent or empty, treated alike. */
  optional(name: string): string | undefined;
  /** Throws Refusal `invalid_request` when it is absent. */
  required(name: string): string;
  /** client_id of the request, if present. */
  readonly clientId: string | undefined;
}

/** Reads a form. Throws Refusal `invalid_request` for a repeated or too long parameter. */
export function readParameters(form: URLSearchParams): Parameters {
  for (const name of new Set(form.keys())) {
    if (form.getAll(name).length > 1) throw oauthRefusal('invalid_request', 'a parameter appears more than once');
  }
  const optional = (name: string) => {
    const value = form.get(name);
    const charsMax = ADDRESSES.has(name) ? limits.redirectUriCharsMax : VALUE_CHARS_MAX;
    if (value !== null && value.length > charsMax) {
      throw oauthRefusal('invalid_request', `${name} must have at most ${charsMax} characters`);
    }
    return value === null || value === '' ? undefined : value;
  };
  const clientId = optional('client_id');
  return {
    optional,
    required(name) {
      const value = optional(name);
      if (value === undefined) throw oauthRefusal('invalid_request', `${name} is required`);
      return value;
    },
    clientId: clientId === undefined ? undefined : readClientId(clientId),
  };
}

/** Reads a client_id: a label chosen by a device, that of a registration, or the address of a metadata document. */
function readClientId(clientId: string): string {
  const isLong = isDocumentAddress(clientId) || isSealedClient(clientId);
  return readLabel('client_id', clientId, isLong ? limits.redirectUriCharsMax : limits.clientIdCharsMax);
}
