/** Opens the sign-in of devices and through an identity provider. */
import type { Config } from '../config.ts';
import { GATEWAY_PATHS } from '../gateway/routes.ts';
import type { Scheme } from '../http/checks/authorization.ts';
import { isOwnHost } from '../http/checks/origin.ts';
import type { Rates } from '../http/checks/rates.ts';
import type { Route } from '../http/route/route.ts';
import { isResourceOf } from '../oauth/code/request.ts';
import { metadataRoutes } from '../oauth/metadata.ts';
import { oauthRoutes } from '../oauth/routes.ts';
import type { Core } from './core.ts';

export interface OAuthInput {
  readonly parts: { readonly config: Config; readonly core: Core; readonly rates: Rates };
  /** Returns the base URL of this service for a request's Host. */
  readonly baseUrl: (host: string) => string;
}

export function openOAuth({ parts: { config, core, rates }, baseUrl }: OAuthInput): Route[] {
  const { accounts, tokens, devices, signIns, clients, codes, identities } = core;
  identities.warm();
  const routes = oauthRoutes({
    devices,
    signIns,
    clients,
    codes,
    async revokeOther(value, source) {
      if (value.startsWith('cat_')) await tokens.revoke(value);
      else await accounts.revokePresentedKey(value, source);
    },
    countRequest: (address) => rates.countSignIn('device', address),
    countFailure: (address) => rates.countFailure(address),
    isResource: (uri, host) => isResourceOf(baseUrl(host), GATEWAY_PATHS, uri),
    knownUrl: (host) => (config.publicUrl !== undefined || isOwnHost(host, config.host) ? baseUrl(host) : undefined),
  });
  if (!config.oauthMetadata) return routes;
  const fetchesDocuments = config.oauthClientDocuments !== 'off';
  return [...routes, ...metadataRoutes({ baseUrl, resources: GATEWAY_PATHS, fetchesDocuments })];
}

/**
 * The gateway's Bearer scheme: access tokens, checked synchronously, and tokens of the identity provider, checked
 * asynchronously.
 */
export function bearerScheme({ tokens, identities }: Core): Scheme {
  return {
    scheme: 'Bearer',
    name: 'AccessToken',
    credential: 'access token',
    find: (token) => tokens.authenticate(token) ?? identities.authenticate(token),
  };
}
