/**
 * Declares the OAuth endpoints for programs: RFC 8628 (device authorization), RFC 6749 (token), RFC 7009 (revocation),
 * RFC 7591 (registration). The authorization endpoint is a page: web/sign-in/authorize.tsx.
 */
import { auditSourceOf } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import { empty, json } from '../http/reply/reply.ts';
import { jsonContent, type Schema } from '../http/route/doc.ts';
import { operation } from '../http/route/operation.ts';
import type { Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { OAuthClients } from './clients/clients.ts';
import type { AuthorizationCodes } from './code/codes.ts';
import { NO_RESOURCE } from './code/request.ts';
import type { DeviceGrants } from './device-grants.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { NO_CACHE, oauthRefusalReply } from './refusal.ts';
import { oauthRefusal, readLabel, readScope } from './rules.ts';
import {
  deviceAnswer,
  deviceRequest,
  oauthError,
  registered,
  registration,
  revokeRequest,
  tokenAnswer,
  tokenRequest,
} from './schemas.ts';
import type { SignIns, TokenAnswer } from './sign-ins.ts';

export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Paths of the endpoints, relative to the base URL. */
export const paths = {
  authorization: '/oauth/authorize',
  registration: '/oauth/register',
  deviceAuthorization: '/oauth/device_authorization',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  /** The page for typing the user code. */
  verification: '/device',
} as const;

export interface OAuthRoutesOptions {
  readonly devices: DeviceGrants;
  readonly signIns: SignIns;
  readonly clients: OAuthClients;
  readonly codes: AuthorizationCodes;
  /** Revokes an access token or an MCP key; an invalid one is not an error. */
  readonly revokeOther: (value: string, source: Source) => Promise<void>;
  /** Counts a device request by address. Throws Refusal `rate_limited`. */
  readonly countRequest: (address: string) => void;
  /** Counts an invalid code or token by address. Throws Refusal `rate_limited`. */
  readonly countFailure: (address: string) => void;
  /** True for a resource of this service (RFC 8707), as addressed by the host of a request. */
  readonly isResource: (uri: string, host: string) => boolean;
  /** Base URL of this service as addressed by a request; undefined when the address cannot be trusted. */
  readonly knownUrl: (host: string) => string | undefined;
}

const form = (schema: Schema, example: unknown) =>
  ({
    accepts: { kind: 'form', bytesMax: limits.oauthFormBytesMax },
    request: { required: true, mediaType: 'application/x-www-form-urlencoded', schema, example },
  }) as const;

const refused = (description: string, error: string, detail: string) => ({
  description,
  schema: oauthError,
  example: { error, error_description: detail },
});

const notAuthenticated = {
  ...refused(
    'The client tried to authenticate; clients are public',
    'invalid_client',
    'clients have no secret here; leave out Authorization and send client_id',
  ),
  headers: ['WWW-Authenticate'],
} as const;

const REFRESH_TOKEN = `crt_${'A'.repeat(72)}`;
const REGISTRATION = { redirect_uris: ['http://127.0.0.1:33418/callback'], client_name: 'My agent' };

export function oauthRoutes(options: OAuthRoutesOptions): Route[] {
  return [deviceRoute(options), registrationRoute(options), tokenRoute(options), revocationRoute(options)];
}

const endpoint = {
  method: 'POST',
  tag: 'oauth',
  access: 'open',
  refuse: oauthRefusalReply,
  refusalSchema: oauthError,
} as const;

function deviceRoute(options: OAuthRoutesOptions): Route {
  return operation({
    ...endpoint,
    ...form(deviceRequest, { client_id: 'my-tool', scope: 'mcp', device_name: 'build-7' }),
    path: paths.deviceAuthorization,
    operationId: 'deviceAuthorization',
    summary: 'Starts the sign-in of a device (RFC 8628, 3.1)',
    answer: {
      description: 'Show user_code and verification_uri, then poll the token endpoint with device_code',
      schema: deviceAnswer,
      example: {
        device_code: `cdc_${'A'.repeat(43)}`,
        user_code: 'BCDF-GHJK',
        verification_uri: 'https://cairn.example.org/device',
        verification_uri_complete: 'https://cairn.example.org/device?user_code=BCDF-GHJK',
        expires_in: limits.deviceCodeSeconds,
        interval: limits.devicePollSeconds,
      },
    },
    answers: {
      400: refused(
        'A parameter is wrong',
        'invalid_scope',
        'scope may contain account and mcp, separated by one space',
      ),
      401: notAuthenticated,
    },
    reply: async ({ request }) => json(200, await authorizeDevice(options, request), NO_CACHE),
  });
}

function registrationRoute(options: OAuthRoutesOptions): Route {
  return operation({
    ...endpoint,
    path: paths.registration,
    operationId: 'registerClient',
    summary: 'Registers an OAuth client (RFC 7591)',
    description:
      'Registers a public OAuth client (RFC 7591). The client_id contains the sealed metadata; it does not expire.',
    accepts: { kind: 'json', bytesMax: limits.clientRegistrationBytesMax },
    request: { required: true, ...jsonContent(registration, REGISTRATION) },
    answer: {
      status: 201,
      description: 'The client_id to sign in with',
      schema: registered,
      example: {
        client_id: `ccl_${'A'.repeat(120)}`,
        ...REGISTRATION,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    },
    answers: { 400: refused('Invalid metadata', 'invalid_redirect_uri', 'redirect_uris must contain 1 to 10 URIs') },
    reply: async ({ request }) => json(201, register(options, request), NO_CACHE),
  });
}

function tokenRoute(options: OAuthRoutesOptions): Route {
  return operation({
    ...endpoint,
    ...form(tokenRequest, { grant_type: 'refresh_token', refresh_token: REFRESH_TOKEN, client_id: 'my-tool' }),
    path: paths.token,
    operationId: 'token',
    summary: 'A device polls for its tokens, or exchanges its refresh token (RFC 8628, 3.4 and RFC 6749, 6)',
    answer: {
      description: 'The tokens, shown once',
      schema: tokenAnswer,
      example: {
        access_token: `cat_${'A'.repeat(49)}`,
        token_type: 'Bearer',
        expires_in: limits.accessTokenSeconds,
        refresh_token: REFRESH_TOKEN,
        scope: 'mcp',
        mcp_key: '0'.repeat(64),
      },
    },
    answers: {
      400: refused(
        'Not yet (authorization_pending, slow_down), never (access_denied, expired_token, invalid_grant), or wrong',
        'authorization_pending',
        'the user has not answered yet; poll again after the interval',
      ),
      401: notAuthenticated,
    },
    reply: async ({ request }) => json(200, await giveTokens(options, request), NO_CACHE),
  });
}

function revocationRoute(options: OAuthRoutesOptions): Route {
  return operation({
    ...endpoint,
    ...form(revokeRequest, { token: REFRESH_TOKEN }),
    path: paths.revocation,
    operationId: 'revoke',
    summary: 'Ends a token (RFC 7009)',
    description: 'Ends a token (RFC 7009). An unknown token gets the same answer.',
    answer: { description: 'It no longer works' },
    answers: {
      400: refused('A parameter is wrong', 'invalid_request', 'token is required'),
      401: notAuthenticated,
    },
    async reply({ request }) {
      await revoke(options, request);
      return empty(200, { 'Cache-Control': 'no-store', ...NO_CACHE });
    },
  });
}

/** People are sent to this address to sign in, so it must not come from a forgeable header. */
const ADDRESS_UNKNOWN =
  'this hub has no public address; ask its operator to set CAIRN_PUBLIC_URL, or use its IP address';

async function authorizeDevice({ devices, countRequest, knownUrl }: OAuthRoutesOptions, request: RouteRequest) {
  const parameters = read(request);
  const clientId = requiredClient(parameters);
  const deviceName = parameters.optional('device_name');
  const device = {
    client_id: clientId,
    device_name: deviceName === undefined ? null : readLabel('device_name', deviceName, limits.deviceNameCharsMax),
    scope: readScope(parameters.optional('scope')),
  };
  countRequest(request.address);
  const url = knownUrl(request.header('host') ?? '');
  if (url === undefined) throw oauthRefusal('invalid_request', ADDRESS_UNKNOWN);
  const made = await devices.start(device, request.address);
  const verificationUri = url + paths.verification;
  return {
    device_code: made.device_code,
    user_code: made.user_code,
    verification_uri: verificationUri,
    verification_uri_complete: `${verificationUri}?user_code=${made.user_code}`,
    expires_in: made.expires_in,
    interval: made.interval,
  };
}

/** Registers an unknown client; rate limited by address, since anyone may call it. */
function register({ clients, countRequest }: OAuthRoutesOptions, request: RouteRequest) {
  countRequest(request.address);
  const { client_id, client_name, redirect_uris } = clients.register(request.document);
  return {
    client_id,
    ...(client_name === null ? {} : { client_name }),
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

async function giveTokens(options: OAuthRoutesOptions, request: RouteRequest): Promise<TokenAnswer> {
  const parameters = read(request);
  const resource = parameters.optional('resource');
  if (resource !== undefined && !options.isResource(resource, request.header('host') ?? '')) {
    throw oauthRefusal('invalid_target', NO_RESOURCE);
  }
  try {
    return await exchange(options, parameters);
  } catch (error) {
    if (error instanceof Refusal && error.fault.kind === 'oauth' && error.fault.error === 'invalid_grant') {
      options.countFailure(request.address);
    }
    throw error;
  }
}

/** Throws Refusal `invalid_request`. */
function requiredClient({ clientId }: Parameters): string {
  if (clientId === undefined) throw oauthRefusal('invalid_request', 'client_id is required');
  return clientId;
}

async function exchange({ devices, signIns, codes }: OAuthRoutesOptions, parameters: Parameters): Promise<TokenAnswer> {
  const grantType = parameters.required('grant_type');
  switch (grantType) {
    case DEVICE_GRANT_TYPE: {
      const deviceCode = parameters.required('device_code');
      return await devices.redeem(deviceCode, requiredClient(parameters));
    }
    case 'authorization_code':
      return await codes.redeem({
        code: parameters.required('code'),
        clientId: requiredClient(parameters),
        redirectUri: parameters.optional('redirect_uri'),
        verifier: parameters.optional('code_verifier'),
        resource: parameters.optional('resource'),
      });
    case 'refresh_token':
      // OAuth 2.1, 4.3.1: a public client names itself.
      return await signIns.refresh(
        parameters.required('refresh_token'),
        requiredClient(parameters),
        parameters.optional('scope'),
      );
    default:
      throw oauthRefusal(
        'unsupported_grant_type',
        `grant_type may be authorization_code, refresh_token or ${DEVICE_GRANT_TYPE}`,
      );
  }
}

/** The form of a token reveals its type, so the hint (RFC 7009, 2.1) is unused. An invalid token counts as revoked. */
async function revoke({ signIns, revokeOther }: OAuthRoutesOptions, request: RouteRequest): Promise<void> {
  const parameters = read(request);
  const token = parameters.required('token');
  if (token.startsWith('crt_')) await signIns.revoke(token, parameters.clientId);
  else await revokeOther(token, auditSourceOf('client', request.address, request.header('user-agent')));
}

/** Clients are public: one that authenticates relies on a secret that does not exist. */
function read(request: RouteRequest): Parameters {
  if (request.header('authorization') !== undefined) {
    throw oauthRefusal('invalid_client', 'clients have no secret here; leave out Authorization and send client_id');
  }
  return readParameters(request.form);
}
