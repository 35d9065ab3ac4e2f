/** Owns the call of a tool of a hub, over JSON-RPC 2.0, and what its refusal means to a command. */
import { z } from 'zod';
import { ClientError } from './client-error.ts';
import type { Credentials } from './credentials.ts';
import { refusalOf, send } from './http.ts';

/** JSON-RPC code of a change that met another. */
const CONFLICT = -32006;

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
  z.object({ result: z.unknown() }),
  z.object({
    error: z.object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() }),
  }),
]);

export type ToolListing = z.infer<typeof toolSchema>;

export interface ToolAnswer {
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** A tool said no, in a sentence for the user. */
export class ToolRefused extends ClientError {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: number, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** The change met another one: the user has to choose. */
  get isConflict(): boolean {
    return this.code === CONFLICT;
  }
}

export class ToolClient {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Every tool of the hub. Throws ClientError. */
  async list(): Promise<readonly ToolListing[]> {
    return this.#read(toolsSchema, await this.#request('tools/list', {})).tools;
  }

  /** Calls a tool. Throws ToolRefused when it says no, Unreachable when nobody knows. */
  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> {
    const result = this.#read(resultSchema, await this.#request('tools/call', { name, arguments: args }));
    return {
      text: result.content.find(({ type }) => type === 'text')?.text ?? '',
      structured: result.structuredContent,
    };
  }

  async #request(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    const { server } = this.#credentials;
    const answer = await send(server, '/api/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: await this.#credentials.toolAuthorization() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const parsed = answerSchema.safeParse(answer.json());
    if (!parsed.success) throw refusalOf(server, answer);
    if ('error' in parsed.data) {
      const { code, message, data } = parsed.data.error;
      throw new ToolRefused(code, message, data);
    }
    return parsed.data.result;
  }

  #read<T>(schema: z.ZodType<T>, result: unknown): T {
    const parsed = schema.safeParse(result);
    if (!parsed.success) {
      throw new ClientError(`${this.#credentials.server} answered not as a Cairn hub does; check --server.`);
    }
    return parsed.data;
  }
}
