/** Describes the endpoints of device sign-in for OpenAPI. */
import { jsonContent, objectSchema, type RouteDoc, type Schema } from '../http/route/doc.ts';
import { limits } from '../limits/service.ts';
import { SCOPES } from './rules.ts';

const text = { type: 'string' } as const;
const seconds = { type: 'integer', minimum: 1 } as const;

const errorSchema: Schema = {
  title: 'OAuthError',
  ...objectSchema(
    {
      error: { ...text, description: 'A code of RFC 6749, 5.2 or RFC 8628, 3.5' },
      error_description: { ...text, description: 'One sentence: what is wrong and what to do' },
    },
    'error_description',
  ),
};

const clientId = {
  ...text,
  minLength: 1,
  maxLength: limits.clientIdCharsMax,
  description: 'Any label the client chooses',
};

const deviceRequest = {
  title: 'DeviceAuthorizationRequest',
  ...objectSchema(
    {
      client_id: clientId,
      scope: { ...text, description: `${SCOPES.join(', ')}; with mcp the tokens come with a new MCP key` },
      device_name: { ...text, minLength: 1, maxLength: limits.deviceNameCharsMax, description: 'Shown to the user' },
    },
    'scope',
    'device_name',
  ),
};

const deviceAnswer = {
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

const tokenRequest = {
  title: 'TokenRequest',
  ...objectSchema(
    {
      grant_type: { enum: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'] },
      code: { ...text, description: 'With the grant type authorization_code; it is exchanged once' },
      redirect_uri: { ...text, description: 'With authorization_code: the same value as in the authorization request' },
      code_verifier: { ...text, description: 'With authorization_code: the verifier of code_challenge (RFC 7636)' },
      resource: {
        ...text,
        description: 'With authorization_code: the same value as in the authorization request (RFC 8707)',
      },
      device_code: { ...text, description: 'For the device grant' },
      refresh_token: { ...text, description: 'With the grant type refresh_token; it is exchanged once' },
      client_id: clientId,
      scope: { ...text, description: 'With refresh_token: a part of the granted scope' },
    },
    'code',
    'redirect_uri',
    'code_verifier',
    'resource',
    'device_code',
    'refresh_token',
    'client_id',
    'scope',
  ),
};

const tokenAnswer = {
  title: 'Tokens',
  ...objectSchema(
    {
      access_token: { ...text, pattern: '^cat_' },
      token_type: { const: 'Bearer' },
      expires_in: seconds,
      refresh_token: { ...text, pattern: '^crt_' },
      scope: text,
      mcp_key: { ...text, pattern: '^[0-9a-f]{64}$', description: 'With scope mcp, at the first exchange only' },
    },
    'mcp_key',
  ),
};

const revokeRequest = {
  title: 'RevocationRequest',
  ...objectSchema(
    {
      token: { ...text, description: 'A refresh token (ends its sign-in), an access token or an MCP key' },
      token_type_hint: { ...text, description: 'Not needed' },
      client_id: clientId,
    },
    'token_type_hint',
    'client_id',
  ),
};

const form = (schema: Schema, example: unknown) =>
  ({ mediaType: 'application/x-www-form-urlencoded', required: true, schema, example }) as const;

const refused = (description: string, error: string, detail: string) =>
  ({ description, content: jsonContent(errorSchema, { error, error_description: detail }) }) as const;

const OAUTH = { tag: 'oauth', security: [], refusalSchema: errorSchema } as const;

const notAuthenticated = {
  ...refused(
    'The client tried to authenticate; clients are public',
    'invalid_client',
    'clients have no secret here; leave out Authorization and send client_id',
  ),
  headers: ['WWW-Authenticate'],
} as const;

const tokenExample = {
  access_token: `cat_${'A'.repeat(49)}`,
  token_type: 'Bearer',
  expires_in: limits.accessTokenSeconds,
  refresh_token: `crt_${'A'.repeat(72)}`,
  scope: 'mcp',
  mcp_key: '0'.repeat(64),
};

const registration = {
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

const registered = {
  title: 'RegisteredClient',
  ...objectSchema(
    {
      client_id: { ...text, pattern: '^ccl_[0-9a-f]{32}$' },
      client_name: text,
      redirect_uris: { type: 'array', items: text },
      grant_types: { type: 'array', items: text },
      response_types: { type: 'array', items: text },
      token_endpoint_auth_method: { const: 'none' },
    },
    'client_name',
  ),
};

const registrationExample = { redirect_uris: ['http://127.0.0.1:33418/callback'], client_name: 'My agent' };

export const oauthOperations = {
  register: {
    ...OAUTH,
    operationId: 'registerClient',
    summary: 'Registers an OAuth client (RFC 7591)',
    description:
      'Registers a public OAuth client (RFC 7591). A registration that never leads to a sign-in expires after a day.',
    request: { ...jsonContent(registration, registrationExample), required: true },
    answers: {
      201: {
        description: 'The client_id to sign in with',
        content: jsonContent(registered, {
          client_id: `ccl_${'0'.repeat(32)}`,
          ...registrationExample,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
        }),
      },
      400: refused('Invalid metadata', 'invalid_redirect_uri', 'redirect_uris must contain 1 to 10 URIs'),
    },
  },
  deviceAuthorization: {
    ...OAUTH,
    operationId: 'deviceAuthorization',
    summary: 'Starts the sign-in of a device (RFC 8628, 3.1)',
    request: form(deviceRequest, { client_id: 'my-tool', scope: 'mcp', device_name: 'build-7' }),
    answers: {
      200: {
        description: 'Show user_code and verification_uri, then poll the token endpoint with device_code',
        content: jsonContent(deviceAnswer, {
          device_code: `cdc_${'A'.repeat(43)}`,
          user_code: 'BCDF-GHJK',
          verification_uri: 'https://cairn.example.org/device',
          verification_uri_complete: 'https://cairn.example.org/device?user_code=BCDF-GHJK',
          expires_in: limits.deviceCodeSeconds,
          interval: limits.devicePollSeconds,
        }),
      },
      400: refused(
        'A parameter is wrong',
        'invalid_scope',
        'scope may contain account and mcp, separated by one space',
      ),
      401: notAuthenticated,
    },
  },
  token: {
    ...OAUTH,
    operationId: 'token',
    summary: 'A device polls for its tokens, or exchanges its refresh token (RFC 8628, 3.4 and RFC 6749, 6)',
    request: form(tokenRequest, { grant_type: 'refresh_token', refresh_token: `crt_${'A'.repeat(72)}` }),
    answers: {
      200: { description: 'The tokens, shown once', content: jsonContent(tokenAnswer, tokenExample) },
      400: refused(
        'Not yet (authorization_pending, slow_down), never (access_denied, expired_token, invalid_grant), or wrong',
        'authorization_pending',
        'the user has not answered yet; poll again after the interval',
      ),
      401: notAuthenticated,
    },
  },
  revoke: {
    ...OAUTH,
    operationId: 'revoke',
    summary: 'Ends a token (RFC 7009)',
    description: 'Ends a token (RFC 7009). An unknown token gets the same answer.',
    request: form(revokeRequest, { token: `crt_${'A'.repeat(72)}` }),
    answers: {
      200: { description: 'It no longer works' },
      400: refused('A parameter is wrong', 'invalid_request', 'token is required'),
      401: notAuthenticated,
    },
  },
} as const satisfies Record<string, RouteDoc>;
