/** Calls the tools of a hub over JSON-RPC 2.0, and converts refusals to client errors. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import { ClientError, NotSignedIn, Unreachable } from './client-error.ts';
import { type ClientAnswer, refusalOf, sendRequest, type TransferProgress } from './http.ts';
import type { Pace } from './pace.ts';
import type { Credentials } from './sign-in/credentials.ts';
import { spokenAnswer, spokenRefusal } from './spoken.ts';
import { ToolRefused } from './tool-refused.ts';

/** JSON-RPC code of an unknown credential. */
const NOT_AUTHENTICATED = -32001;

/** The codes of the tools for refusals of REST operations, by status. */
const REFUSED_AS: ReadonlyMap<number, number> = new Map([
  [404, -32005],
  [413, -32004],
  [422, -32602],
  [429, -32029],
  [503, -32007],
  [507, -32008],
]);

const toolSchema = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.object({
    properties: z.record(z.string(), z.record(z.string(), z.unknown())),
    required: z.array(z.string()).optional(),
  }),
});
const toolsSchema = z.object({ tools: z.array(toolSchema) });
const resultSchema = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()),
});
const answerSchema = z.union([
  z.object({
    error: z.object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() }),
  }),
  z.object({ result: z.unknown() }),
]);
const totalsSchema = z.object({ total_count: z.number(), total_size_bytes: z.number() });

export type PullTotals = z.infer<typeof totalsSchema>;

export type ListedTool = z.infer<typeof toolSchema>;

export interface ToolAnswer {
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** Transfer speed limits; undefined: unlimited. */
export interface Paces {
  readonly upload?: Pace | undefined;
  readonly download?: Pace | undefined;
}

export interface CallHow {
  readonly signal?: AbortSignal;
  readonly onSent?: TransferProgress;
}

/** Whose words the sentences of the hub get: those of `cairn` commands, or of the tools as the hub says them. */
export type Tongue = 'commands' | 'tools';

export class ToolClient {
  readonly #credentials: Credentials;
  readonly #paces: Paces;
  readonly #tongue: Tongue;

  constructor(credentials: Credentials, paces: Paces = {}, tongue: Tongue = 'commands') {
    this.#credentials = credentials;
    this.#paces = paces;
    this.#tongue = tongue;
  }

  /** Every tool of the hub. Throws ClientError. */
  async list(): Promise<readonly ListedTool[]> {
    return this.#read(toolsSchema, await this.#request('tools/list', {}, {}, '?toolsets=all')).tools;
  }

  /** Calls a tool. Throws ToolRefused when the hub refuses, Unreachable when the outcome is unknown. */
  async call(name: string, args: Readonly<Record<string, unknown>>, how: CallHow = {}): Promise<ToolAnswer> {
    return this.#toolAnswer(await this.#request('tools/call', { name, arguments: args }, how));
  }

  /**
   * Calls a tool that returns its records as a listing, and passes each record on as it arrives. Resolves with the last
   * line: the rest of the result. Throws ToolRefused, Unreachable; the records passed on until then may be incomplete.
   */
  async stream(
    name: string,
    args: Readonly<Record<string, unknown>>,
    onRecord: (record: Readonly<Record<string, unknown>>, totals: PullTotals) => void,
    how: Pick<CallHow, 'signal'> = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const { server } = this.#credentials;
    let totals: PullTotals = { total_count: 0, total_size_bytes: 0 };
    let end: Readonly<Record<string, unknown>> | undefined;
    const answer = await sendRequest(server, '/api/mcp', {
      method: 'POST',
      headers: await this.#headers({ Accept: 'application/x-ndjson' }),
      body: body('tools/call', { name, arguments: args }),
      idleSeconds: limits.clientIdleSeconds,
      ...this.#paces,
      ...how,
      onLine: (line) => {
        const record = parsed(line);
        if (!isLine(record)) throw this.#odd();
        if (record.type === 'start') totals = this.#read(totalsSchema, record);
        else if (record.type === 'end') end = record;
        else if (record.type !== undefined) onRecord(record, totals);
        else throw refusedOrOdd(server, record, this.#tongue);
      },
    });
    if (answer.bytes.length > 0) this.#result(answer);
    if (end === undefined) throw new Unreachable(`the answer from ${server} broke off`, '; run the command again.');
    return end;
  }

  /** Asks a REST operation of the hub. Throws ToolRefused when the hub refuses, Unreachable when the outcome is unknown. */
  async ask(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body: Uint8Array | string | undefined,
    how: CallHow = {},
  ): Promise<ClientAnswer> {
    const { server } = this.#credentials;
    const Authorization = await this.#credentials.toolAuthorization();
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
    const answer = await sendRequest(server, path, {
      method,
      headers: { Authorization, ...(body === undefined ? {} : { 'Content-Type': type }) },
      ...(body === undefined ? {} : { body }),
      idleSeconds: limits.clientIdleSeconds,
      ...this.#paces,
      ...how,
    });
    if (answer.status === 200) return answer;
    const error = refusalOf(server, answer);
    const code = REFUSED_AS.get(answer.status);
    if (code === undefined) throw error;
    throw new ToolRefused(code, error.message, {
      status: answer.status,
      retry_after_seconds: Number(answer.header('retry-after') ?? 1),
    });
  }

  async #request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    how: CallHow = {},
    query = '',
  ): Promise<unknown> {
    const { server } = this.#credentials;
    const answer = await sendRequest(server, `/api/mcp${query}`, {
      method: 'POST',
      headers: await this.#headers(),
      body: body(method, params),
      idleSeconds: limits.clientIdleSeconds,
      ...this.#paces,
      ...how,
    });
    return this.#result(answer);
  }

  async #headers(more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const Authorization = await this.#credentials.toolAuthorization();
    return { 'Content-Type': 'application/json', Authorization, ...more };
  }

  #result(answer: ClientAnswer): unknown {
    const { server } = this.#credentials;
    const document = answer.json();
    if (!answerSchema.safeParse(document).success) throw refusalOf(server, answer);
    return resultOf(server, document, this.#tongue);
  }

  #toolAnswer(value: unknown): ToolAnswer {
    const result = this.#read(resultSchema, value);
    const text = result.content.find(({ type }) => type === 'text')?.text ?? '';
    return {
      text: this.#tongue === 'commands' ? spokenAnswer(text) : text,
      structured: result.structuredContent,
    };
  }

  #read<T>(schema: z.ZodType<T>, result: unknown): T {
    const parsed = schema.safeParse(result);
    if (!parsed.success) throw this.#odd();
    return parsed.data;
  }

  #odd(): ClientError {
    return new ClientError(`${this.#credentials.server} does not answer like a Cairn hub; check --server.`);
  }
}

type Line = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Checks a line by hand: there may be hundreds of thousands, and a schema takes as long for one as its JSON. */
function isLine(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { type } = value as Readonly<Record<string, unknown>>;
  return type === undefined || typeof type === 'string';
}

/** Parses a line; undefined when it is not JSON. */
function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) as unknown;
  } catch {
    // Reported like any other answer that is not from a hub.
    return undefined;
  }
}

function body(method: string, params: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

/** The result of a JSON-RPC answer. Throws ToolRefused when the answer is an error. */
function resultOf(server: string, document: unknown, tongue: Tongue): unknown {
  const parsed = answerSchema.safeParse(document);
  if (!parsed.success) throw new ClientError(`${server} does not answer like a Cairn hub; check --server.`);
  if ('result' in parsed.data) return parsed.data.result;
  const { code, message, data } = parsed.data.error;
  if (tongue === 'tools') throw refusalFor(server, code, message, data);
  const path = data?.['path'];
  throw refusalFor(server, code, spokenRefusal(message, typeof path === 'string' ? path : undefined), data);
}

/** The error for a line that is not part of a listing: usually a refusal. */
function refusedOrOdd(server: string, document: unknown, tongue: Tongue): ClientError {
  try {
    resultOf(server, document, tongue);
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
  return new ClientError(`${server} does not answer like a Cairn hub; check --server.`);
}

function refusalFor(
  server: string,
  code: number,
  message: string,
  data: Readonly<Record<string, unknown>> | undefined,
): ClientError {
  if (code !== NOT_AUTHENTICATED) return new ToolRefused(code, message, data);
  return new NotSignedIn(
    `${server} does not accept this key or sign-in. Correct or unset CAIRN_KEY, or run \`cairn login --server ${server}\`.`,
  );
}
