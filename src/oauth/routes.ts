/**
 * Serves the OAuth endpoints for programs: RFC 8628 (device authorization), RFC 6749 (token), RFC 7009 (revocation),
 * RFC 7591 (registration). The authorization endpoint is a page: web/sign-in/authorize.tsx.
 */
import { sourceOf } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import { empty, json } from '../http/reply/reply.ts';
import type { Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { OAuthClients } from './clients/clients.ts';
import type { AuthorizationCodes } from './code/codes.ts';
import type { DeviceGrants } from './device-grants.ts';
import { oauthOperations } from './openapi.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { NO_CACHE, oauthRefusalReply } from './refusal.ts';
import { oauthRefusal, readLabel, readScope } from './rules.ts';
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
  /** Base URL of this service as addressed by a request; undefined when the address cannot be trusted. */
  readonly knownUrl: (host: string) => string | undefined;
}

export function oauthRoutes(options: OAuthRoutesOptions): Route[] {
  const base = {
    method: 'POST',
    access: 'open',
    body: { kind: 'form', bytesMax: limits.oauthFormBytesMax },
    refuse: oauthRefusalReply,
  } as const;
  return [
    {
      ...base,
      path: paths.deviceAuthorization,
      doc: oauthOperations.deviceAuthorization,
      handle: (request: RouteRequest) => authorizeDevice(options, request),
    },
    {
      ...base,
      path: paths.registration,
      body: { kind: 'json', bytesMax: limits.clientRegistrationBytesMax },
      doc: oauthOperations.register,
      handle: (request: RouteRequest) => register(options, request),
    },
    {
      ...base,
      path: paths.token,
      doc: oauthOperations.token,
      handle: async (request: RouteRequest) => json(200, await giveTokens(options, request), NO_CACHE),
    },
    {
      ...base,
      path: paths.revocation,
      doc: oauthOperations.revoke,
      async handle(request: RouteRequest) {
        await revoke(options, request);
        return empty(200, { 'Cache-Control': 'no-store', ...NO_CACHE });
      },
    },
  ];
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
  const answer = {
    device_code: made.device_code,
    user_code: made.user_code,
    verification_uri: verificationUri,
    verification_uri_complete: `${verificationUri}?user_code=${made.user_code}`,
    expires_in: made.expires_in,
    interval: made.interval,
  };
  return json(200, answer, NO_CACHE);
}

/** Registers an unknown client; rate limited by address, since anyone may call it. */
async function register({ clients, countRequest }: OAuthRoutesOptions, request: RouteRequest) {
  countRequest(request.address);
  const { client_id, client_name, redirect_uris } = await clients.register(request.document);
  const answer = {
    client_id,
    ...(client_name === null ? {} : { client_name }),
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return json(201, answer, NO_CACHE);
}

async function giveTokens(options: OAuthRoutesOptions, request: RouteRequest): Promise<TokenAnswer> {
  const parameters = read(request);
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
      return await signIns.refresh(
        parameters.required('refresh_token'),
        parameters.clientId,
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
  else await revokeOther(token, sourceOf('client', request.address, request.header('user-agent')));
}

/** Clients are public: one that authenticates relies on a secret that does not exist. */
function read(request: RouteRequest): Parameters {
  if (request.header('authorization') !== undefined) {
    throw oauthRefusal('invalid_client', 'clients have no secret here; leave out Authorization and send client_id');
  }
  return readParameters(request.form);
}
