/** Serves the metadata documents, if enabled: authorization server (RFC 8414), protected resources (RFC 9728). */
import { json } from '../http/reply/reply.ts';
import { objectSchema, type Schema } from '../http/route/doc.ts';
import { operation } from '../http/route/operation.ts';
import type { Route } from '../http/route/route.ts';
import { DEVICE_GRANT_TYPE, paths } from './routes.ts';
import { RESOURCE_SCOPES, SCOPES } from './rules.ts';

const SERVER_PATH = '/.well-known/oauth-authorization-server';
export const RESOURCE_PATH = '/.well-known/oauth-protected-resource';

export interface MetadataOptions {
  /** Base URL of this service, as addressed by a request. */
  readonly baseUrl: (host: string) => string;
  /** Paths of protected resources. */
  readonly resources: readonly string[];
  /** True when a client may use the address of its metadata document as client_id. */
  readonly fetchesDocuments: boolean;
}

export function metadataRoutes({ baseUrl, resources, fetchesDocuments }: MetadataOptions): Route[] {
  const route = (
    path: string,
    operationId: string,
    summary: string,
    schema: Schema,
    document: (base: string) => object,
  ) =>
    operation({
      method: 'GET',
      path,
      operationId,
      tag: 'oauth',
      summary,
      access: 'open',
      // Read before any credential exists, with any User-Agent: treated as the probes are.
      uncounted: true,
      answer: { description: 'The document', schema },
      reply: ({ request }) =>
        json(200, document(baseUrl(request.header('host') ?? '')), { 'Cache-Control': 'no-cache' }),
    });
  const resource = (url: string, path: string) => ({
    resource: url + path,
    authorization_servers: [url],
    scopes_supported: RESOURCE_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Cairn',
  });
  const resourceRoute = (path: string, summary: string) =>
    route(RESOURCE_PATH + path, `protectedResourceMetadata${camelCased(path)}`, summary, resourceSchema, (url) =>
      resource(url, path),
    );
  return [
    route(SERVER_PATH, 'authorizationServerMetadata', 'Authorization server metadata (RFC 8414)', serverSchema, (url) =>
      authorizationServer(url, fetchesDocuments),
    ),
    resourceRoute('', 'Protected resource metadata (RFC 9728)'),
    // RFC 9728, 3.1: the resource path is appended to the well-known path.
    ...resources.map((path) => resourceRoute(path, `What protects ${path} (RFC 9728)`)),
  ];
}

/** `/api/mcp` becomes `ApiMcp`. */
function camelCased(path: string): string {
  return path.replace(/[^a-z]+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function authorizationServer(url: string, fetchesDocuments: boolean): object {
  return {
    issuer: url,
    authorization_endpoint: url + paths.authorization,
    registration_endpoint: url + paths.registration,
    device_authorization_endpoint: url + paths.deviceAuthorization,
    token_endpoint: url + paths.token,
    revocation_endpoint: url + paths.revocation,
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: fetchesDocuments,
    scopes_supported: SCOPES,
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
  };
}

const names: Schema = { type: 'array', items: { type: 'string' } };
const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };

const serverSchema = {
  title: 'AuthorizationServerMetadata',
  ...objectSchema({
    issuer: text,
    authorization_endpoint: text,
    registration_endpoint: text,
    device_authorization_endpoint: text,
    token_endpoint: text,
    revocation_endpoint: text,
    grant_types_supported: names,
    response_types_supported: names,
    response_modes_supported: names,
    code_challenge_methods_supported: names,
    authorization_response_iss_parameter_supported: flag,
    client_id_metadata_document_supported: flag,
    scopes_supported: names,
    token_endpoint_auth_methods_supported: names,
    revocation_endpoint_auth_methods_supported: names,
  }),
};

const resourceSchema = {
  title: 'ProtectedResourceMetadata',
  ...objectSchema({
    resource: text,
    authorization_servers: names,
    scopes_supported: names,
    bearer_methods_supported: names,
    resource_name: text,
  }),
};
