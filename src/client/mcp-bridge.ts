/**
 * Bridges an MCP client on standard input and output (MCP, transports: stdio) to a hub on HTTP: one JSON-RPC message a
 * line each way. Adds the credential and the headers of the HTTP transport, and changes nothing else. A request that
 * cannot be delivered is answered with an error that names the next step.
 */
import { limits } from '../limits/service.ts';
import { ClientError } from './client-error.ts';
import { type ClientAnswer, refusalOf, sendRequest } from './http.ts';
import type { Credentials } from './sign-in/credentials.ts';

const MODERN_VERSION_META = 'io.modelcontextprotocol/protocolVersion';
const INTERNAL_ERROR = -32603;
const PARSE_ERROR = -32700;

type Json = Readonly<Record<string, unknown>>;

export interface McpBridgeOptions {
  readonly credentials: Credentials;
  /** Writes one line to the client; a newline is appended. */
  readonly write: (line: string) => void;
  readonly warn: (sentence: string) => void;
}

export class McpBridge {
  readonly #options: McpBridgeOptions;
  readonly #running = new Set<Promise<void>>();
  /** Protocol version agreed on in `initialize`; later messages must send it (MCP, protocol version header). */
  #agreed: string | undefined;

  constructor(options: McpBridgeOptions) {
    this.#options = options;
  }

  /**
   * Forwards one line to the hub. Requests run in parallel, so a long poll delays no other request. Resolves when there
   * is capacity for another one. Messages after `initialize` wait for its answer, which contains the protocol version.
   */
  async take(line: string): Promise<void> {
    if (line.trim() === '') return;
    const message = parse(line);
    if (message === undefined) {
      this.#options.write(errorLine(null, PARSE_ERROR, 'The line is not valid JSON.'));
      return;
    }
    const work = this.#deliver(line, message).finally(() => this.#running.delete(work));
    this.#running.add(work);
    if ((message as Json | null)?.['method'] === 'initialize') await work;
    else if (this.#running.size >= limits.bridgeRequestsMax) await Promise.race(this.#running);
  }

  /** Resolves when every request has been answered. */
  async finish(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #deliver(line: string, message: unknown): Promise<void> {
    try {
      const answer = await this.#post(line, message);
      this.#note(message, answer);
      this.#answer(message, answer);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.#fail(message, error);
    }
  }

  async #post(line: string, message: unknown): Promise<ClientAnswer> {
    const { credentials } = this.#options;
    return await sendRequest(credentials.server, '/api/mcp', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        Authorization: await credentials.toolAuthorization(),
        ...this.#headersOf(message),
      },
      body: line,
      seconds: limits.clientTransferSeconds,
    });
  }

  /** Messages of revision 2026-07-28 contain their protocol version, and repeat method and name in headers. */
  #headersOf(message: unknown): Record<string, string> {
    const { method, params } = (Array.isArray(message) ? {} : message) as { method?: unknown; params?: Json };
    const meta = params?.['_meta'] as Json | undefined;
    const own = meta?.[MODERN_VERSION_META];
    if (typeof own === 'string' && typeof method === 'string') {
      const name = params?.['name'] ?? params?.['uri'];
      return {
        'MCP-Protocol-Version': own,
        'Mcp-Method': headerText(method),
        ...(typeof name === 'string' ? { 'Mcp-Name': headerText(name) } : {}),
      };
    }
    return this.#agreed === undefined ? {} : { 'MCP-Protocol-Version': this.#agreed };
  }

  #note(message: unknown, answer: ClientAnswer): void {
    if ((message as Json | null)?.['method'] !== 'initialize') return;
    const version = ((answer.json() as Json | undefined)?.['result'] as Json | undefined)?.['protocolVersion'];
    if (typeof version === 'string') this.#agreed = version;
  }

  /** Forwards JSON-RPC answers. Any other answer, as from a proxy, becomes an error of the request. */
  #answer(message: unknown, answer: ClientAnswer): void {
    if (answer.status === 202) return;
    const document = answer.json();
    const isProtocol = Array.isArray(document) || (document as Json | undefined)?.['jsonrpc'] === '2.0';
    const isForThis = Array.isArray(document) || (document as Json | undefined)?.['id'] !== null;
    if (isProtocol && isForThis) this.#options.write(answer.bytes.toString('utf8').trim());
    // The hub speaks of a header, which is the bridge's: who reads this has a sign-in or CAIRN_KEY.
    else if (isProtocol && answer.status !== 401) this.#fail(message, new ClientError(messageOf(document as Json)));
    else this.#fail(message, refusalOf(this.#options.credentials.server, answer));
  }

  #fail(message: unknown, error: ClientError): void {
    this.#options.warn(error.message);
    for (const one of Array.isArray(message) ? message : [message]) {
      const id = (one as Json | null)?.['id'];
      if (id !== undefined) this.#options.write(errorLine(id, INTERNAL_ERROR, error.message));
    }
  }
}

/** Parses a line; undefined when it is not JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function messageOf(document: Json): string {
  const message = (document['error'] as Json | undefined)?.['message'];
  return typeof message === 'string' ? message : 'The hub refused the request.';
}

function errorLine(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/** Encodes a value that is not valid in a header in base64, as specified in revision 2026-07-28. */
function headerText(value: string): string {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
