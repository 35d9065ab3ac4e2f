/** Owns how the parameters of a request to the OAuth endpoints are read (RFC 6749, 3.2). Pure. */
import { limits } from '../limits/service.ts';
import { oauthRefusal, readLabel } from './rules.ts';

/** Longest code or token that is looked at; ours are shorter. */
const VALUE_CHARS_MAX = 512;

export interface Parameters {
  /** Undefined: absent or empty, which means the same. */
  optional(name: string): string | undefined;
  /** Refuses with `invalid_request` when it is absent. */
  required(name: string): string;
  /** The label of the client, when it names itself. */
  readonly clientId: string | undefined;
}

/** Reads a form. Refuses with `invalid_request` what is there twice or too long. */
export function readParameters(form: URLSearchParams): Parameters {
  for (const name of new Set(form.keys())) {
    if (form.getAll(name).length > 1) throw oauthRefusal('invalid_request', 'a parameter is there more than once');
  }
  const optional = (name: string) => {
    const value = form.get(name);
    if (value !== null && value.length > VALUE_CHARS_MAX) {
      throw oauthRefusal('invalid_request', `${name} must have at most ${VALUE_CHARS_MAX} characters`);
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
    clientId: clientId === undefined ? undefined : readLabel('client_id', clientId, limits.clientIdCharsMax),
  };
}
