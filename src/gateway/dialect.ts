/**
 * Detects the dialect of a message: MCP 2026-07-28 (`modern`), earlier MCP revisions (`legacy`), or plain JSON-RPC as
 * in the interface specification (`bare`). Pure.
 */

import { HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION } from './codes.ts';
import type { RpcError } from './envelope.ts';
import type { ClientSession } from './session-id.ts';

export const MODERN_VERSION = '2026-07-28';
/** Newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_META = 'io.modelcontextprotocol/clientCapabilities';

export type Dialect = 'bare' | 'legacy' | 'modern';

/** The MCP headers of a request, unchanged; `session` is set only for an id in this hub's format. */
export interface McpHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  readonly session: ClientSession | undefined;
}

export type DialectAnswer =
  | { readonly ok: true; readonly dialect: Dialect }
  /** Reply with HTTP 400 and this error. */
  | { readonly ok: false; readonly error: RpcError };

/** Detects the dialect of one message and checks the required fields and headers of a modern one. */
export function readDialect(headers: McpHeaders, method: string, params: unknown): DialectAnswer {
  const meta = metaOf(params);
  const inMeta = meta?.[VERSION_META];
  const version = headers.version ?? (typeof inMeta === 'string' ? inMeta : undefined);
  // Only a client that started with `initialize` has a session (VS Code sends no version header).
  if (version === undefined) return { ok: true, dialect: headers.session === undefined ? 'bare' : 'legacy' };
  const unsupported = refusedVersion(version);
  if (unsupported !== undefined) return { ok: false, error: unsupported };
  // A message without the field is from before 2026-07-28, or an invalid modern one.
  if (inMeta === undefined && version !== MODERN_VERSION) return { ok: true, dialect: 'legacy' };
  if (inMeta === undefined) return refuse(INVALID_PARAMS, `_meta["${VERSION_META}"] is required in ${MODERN_VERSION}`);
  if (headers.version !== inMeta) {
    return refuse(HEADER_MISMATCH, `MCP-Protocol-Version must equal _meta["${VERSION_META}"]`);
  }
  if (version !== MODERN_VERSION) return { ok: true, dialect: 'legacy' };
  const capabilities = meta?.[CAPABILITIES_META];
  if (typeof capabilities !== 'object' || capabilities === null) {
    return refuse(INVALID_PARAMS, `_meta["${CAPABILITIES_META}"] is required in ${MODERN_VERSION}`);
  }
  return checkHeaders(headers, method, params);
}

/** The error for an unsupported version; undefined when the version is supported or absent. */
export function refusedVersion(version: string | undefined): RpcError | undefined {
  if (version === undefined || supported().includes(version)) return undefined;
  return {
    code: UNSUPPORTED_VERSION,
    message: `MCP protocol version ${version.slice(0, 32)} is not spoken here; use one of ${supported().join(', ')}`,
    data: { supported: supported(), requested: version.slice(0, 32) },
  };
}

export function supported(): string[] {
  return [MODERN_VERSION, ...LEGACY_VERSIONS];
}

/** The member of `params` repeated in the header Mcp-Name, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

function checkHeaders(headers: McpHeaders, method: string, params: unknown): DialectAnswer {
  if (headers.method !== method)
    return refuse(HEADER_MISMATCH, `Mcp-Method must be ${method}, like the method in the body`);
  const member = NAMED_BY[method];
  if (member !== undefined) {
    const name = (params as Readonly<Record<string, unknown>>)[member];
    if (headers.name === undefined || decodeHeader(headers.name) !== name) {
      return refuse(HEADER_MISMATCH, `Mcp-Name must equal params.${member}`);
    }
  }
  return { ok: true, dialect: 'modern' };
}

function refuse(code: number, message: string): DialectAnswer {
  return { ok: false, error: { code, message } };
}

function metaOf(params: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof params !== 'object' || params === null) return undefined;
  const meta = (params as { _meta?: unknown })._meta;
  return typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>) : undefined;
}

/** The client capabilities declared in a modern message. */
export function capabilitiesIn(params: unknown): unknown {
  return metaOf(params)?.[CAPABILITIES_META];
}

/** Decodes a header value; non-ASCII values are encoded as `=?base64?…?=`. */
function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value);
  return encoded === null ? value : Buffer.from(encoded[1] ?? '', 'base64').toString('utf8');
}
