/** The endpoints of device sign-in: RFC 8628 (device authorization), RFC 6749 (token), RFC 7009 (revocation). */
import { Refusal } from '../common/fault.ts';
import { empty, json } from '../http/reply/reply.ts';
import type { Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { DeviceGrants } from './device-grants.ts';
import { oauthDocs } from './openapi.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { NO_CACHE, oauthRefusalReply } from './refusal.ts';
import { oauthRefusal, readLabel, readScope } from './rules.ts';
import type { SignIns, TokenAnswer } from './sign-ins.ts';

export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Where the endpoints are, below the address of the service. */
export const paths = {
  deviceAuthorization: '/oauth/device_authorization',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  /** The page where a person types the user code. */
  verification: '/device',
} as const;

export interface OAuthRoutesOptions {
  readonly devices: DeviceGrants;
  readonly signIns: SignIns;
  /** Ends an access token or an MCP key; one that opens nothing is no refusal. */
  readonly revokeOther: (value: string) => Promise<void>;
  /** Counts a device that asks, by address. Throws Refusal `rate_limited`. */
  readonly countRequest: (address: string) => void;
  /** Counts a code or token that opened nothing, by address. Throws Refusal `rate_limited`. */
  readonly countFailure: (address: string) => void;
  /** This service as a request addressed it. */
  readonly baseUrl: (host: string) => string;
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
      doc: oauthDocs.deviceAuthorization,
      handle: (request: RouteRequest) => authorizeDevice(options, request),
    },
    {
      ...base,
      path: paths.token,
      doc: oauthDocs.token,
      handle: async (request: RouteRequest) => json(200, await giveTokens(options, request), NO_CACHE),
    },
    {
      ...base,
      path: paths.revocation,
      doc: oauthDocs.revoke,
      async handle(request: RouteRequest) {
        await revoke(options, read(request));
        return empty(200, { 'Cache-Control': 'no-store', ...NO_CACHE });
      },
    },
  ];
}

async function authorizeDevice({ devices, countRequest, baseUrl }: OAuthRoutesOptions, request: RouteRequest) {
  const parameters = read(request);
  if (parameters.clientId === undefined) throw oauthRefusal('invalid_request', 'client_id is required');
  const deviceName = parameters.optional('device_name');
  const device = {
    client_id: parameters.clientId,
    device_name: deviceName === undefined ? null : readLabel('device_name', deviceName, limits.deviceNameCharsMax),
    scope: readScope(parameters.optional('scope')),
  };
  countRequest(request.address);
  const made = await devices.start(device, request.address);
  const verificationUri = baseUrl(request.header('host') ?? '') + paths.verification;
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

async function exchange({ devices, signIns }: OAuthRoutesOptions, parameters: Parameters): Promise<TokenAnswer> {
  const grantType = parameters.required('grant_type');
  switch (grantType) {
    case DEVICE_GRANT_TYPE: {
      const deviceCode = parameters.required('device_code');
      if (parameters.clientId === undefined) throw oauthRefusal('invalid_request', 'client_id is required');
      return await devices.redeem(deviceCode, parameters.clientId);
    }
    case 'refresh_token':
      return await signIns.refresh(
        parameters.required('refresh_token'),
        parameters.clientId,
        parameters.optional('scope'),
      );
    default:
      throw oauthRefusal('unsupported_grant_type', `grant_type may be refresh_token or ${DEVICE_GRANT_TYPE}`);
  }
}

/** A token is told by its own form, so the hint (RFC 7009, 2.1) is not needed. What opens nothing is revoked already. */
async function revoke({ signIns, revokeOther }: OAuthRoutesOptions, parameters: Parameters): Promise<void> {
  const token = parameters.required('token');
  if (token.startsWith('crt_')) await signIns.revoke(token, parameters.clientId);
  else await revokeOther(token);
}

/** Clients are public: one that authenticates expects a secret that does not exist. */
function read(request: RouteRequest): Parameters {
  if (request.header('authorization') !== undefined) {
    throw oauthRefusal('invalid_client', 'clients have no secret here; leave out Authorization and send client_id');
  }
  return readParameters(request.form);
}
