/** Declares what the OAuth endpoints accept and answer, for the OpenAPI document. The standards say how they are read. */
import { objectSchema, type Schema } from '../http/route/doc.ts';
import { limits } from '../limits/service.ts';
import { SCOPES } from './rules.ts';

const text = { type: 'string' } as const;
const seconds = { type: 'integer', minimum: 1 } as const;

export const oauthError: Schema = {
  title: 'OAuthError',
  ...objectSchema(
    {
      error: { ...text, description: 'A code of RFC 6749, 5.2 or RFC 8628, 3.5' },
    },
    {
      error_description: { ...text, description: 'One sentence: what is wrong and what to do' },
    },
  ),
};

const clientId = {
  ...text,
  minLength: 1,
  description: `A label of at most ${limits.clientIdCharsMax} characters that the client chooses, or the client_id of its registration`,
};

export const deviceRequest = {
  title: 'DeviceAuthorizationRequest',
  ...objectSchema(
    {
      client_id: clientId,
    },
    {
      scope: { ...text, description: `${SCOPES.join(', ')}; with mcp the tokens come with a new MCP key` },
      device_name: { ...text, minLength: 1, maxLength: limits.deviceNameCharsMax, description: 'Shown to the user' },
    },
  ),
};

export const deviceAnswer = {
  title: 'DeviceAuthorization',
  ...objectSchema({
    device_code: text,
    user_code: { ...text, pattern: '^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$' },
    verification_uri: text,
    verification_uri_complete: text,
    expires_in: seconds,
    interval: { ...seconds, description: 'Seconds between polls' },
  }),
};

export const tokenRequest = {
  title: 'TokenRequest',
  ...objectSchema(
    {
      grant_type: { enum: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'] },
    },
    {
      code: { ...text, description: 'With the grant type authorization_code; it is exchanged once' },
      redirect_uri: { ...text, description: 'With authorization_code: the same value as in the authorization request' },
      code_verifier: { ...text, description: 'With authorization_code: the verifier of code_challenge (RFC 7636)' },
      resource: {
        ...text,
        description:
          'An address of this hub (RFC 8707); with authorization_code, the same as in the authorization request',
      },
      device_code: { ...text, description: 'For the device grant' },
      refresh_token: { ...text, description: 'With the grant type refresh_token; it is exchanged once' },
      client_id: clientId,
      scope: { ...text, description: 'With refresh_token: a part of the granted scope' },
    },
  ),
};

export const tokenAnswer = {
  title: 'Tokens',
  ...objectSchema(
    {
      access_token: { ...text, pattern: '^cat_' },
      token_type: { const: 'Bearer' },
      expires_in: seconds,
      refresh_token: { ...text, pattern: '^crt_' },
      scope: text,
    },
    {
      mcp_key: { ...text, pattern: '^[0-9a-f]{64}$', description: 'With scope mcp, at the first exchange only' },
    },
  ),
};

export const revokeRequest = {
  title: 'RevocationRequest',
  ...objectSchema(
    {
      token: { ...text, description: 'A refresh token (ends its sign-in), an access token or an MCP key' },
    },
    {
      token_type_hint: { ...text, description: 'Not needed' },
      client_id: clientId,
    },
  ),
};

export const registration = {
  title: 'ClientRegistration',
  type: 'object',
  properties: {
    redirect_uris: {
      type: 'array',
      items: text,
      minItems: 1,
      maxItems: limits.redirectUrisMax,
      description: 'https, http on loopback, or a scheme of the app itself',
    },
    client_name: { ...text, maxLength: limits.deviceNameCharsMax, description: 'Shown to the user' },
  },
  required: ['redirect_uris'],
  // Members of RFC 7591 that this service does not use are allowed and ignored.
  additionalProperties: true,
};

export const registered = {
  title: 'RegisteredClient',
  ...objectSchema(
    {
      client_id: { ...text, pattern: '^ccl_[A-Za-z0-9_-]+$' },
      redirect_uris: { type: 'array', items: text },
      grant_types: { type: 'array', items: text },
      response_types: { type: 'array', items: text },
      token_endpoint_auth_method: { const: 'none' },
    },
    {
      client_name: text,
    },
  ),
};
