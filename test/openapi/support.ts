/** Reads the OpenAPI document of a running hub, and holds real answers against it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Answer, type Call, call } from '../support/http.ts';
import type { Hub } from '../support/hub.ts';

export type Json = Readonly<Record<string, unknown>>;

interface MediaType {
  readonly schema?: Json;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Json>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Json;
  readonly example?: unknown;
}

export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Json>>;
  readonly 'x-mcp-annotations'?: Json;
}

/** RFC 3339, section 5.6, and the reference of RFC 3986 as far as a path can be one. */
const formats = {
  'date-time': /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])$/,
  'uri-reference': /^[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]+$/,
};

/**
 * Headers that an answer must not carry undocumented. The state of the rate limit is not among them: it stands on refusals
 * as well, where it would only be noise in the document.
 */
const TELLING_HEADERS = [
  'Accept-Ranges',
  'Content-Range',
  'ETag',
  'Link',
  'Location',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Tarball-Sha256',
];

export class ApiDocument {
  readonly root: Json;
  readonly operations: readonly Operation[];
  readonly #ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, formats });

  constructor(root: Json) {
    this.root = root;
    // Lets `#/components/…` be resolved from within each schema.
    this.#ajv.addVocabulary(['components']);
    const paths = root['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
    );
  }

  static async of(hub: Hub): Promise<ApiDocument> {
    return new ApiDocument((await call(hub, '/api/mcp/openapi.json')).json());
  }

  operation(id: string): Operation {
    const found = this.operations.find(({ operationId }) => operationId === id);
    if (found === undefined) throw new Error(`the document has no operation ${id}`);
    return found;
  }

  /** What is wrong with a value; throws when the schema itself is not a valid JSON Schema. */
  errors(schema: Json, value: unknown): string[] {
    const validate = this.#ajv.compile({ ...schema, components: this.root['components'] });
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  }

  /** Follows a reference within the document. */
  resolve<T>(value: Json): T {
    const { $ref } = value;
    if (typeof $ref !== 'string') return value as T;
    let at: unknown = this.root;
    for (const step of $ref.split('/').slice(1)) at = (at as Json | undefined)?.[step];
    if (at === undefined) throw new Error(`${$ref} leads nowhere`);
    return at as T;
  }

  /** Where an answer differs from what the document says of it. */
  differences(operation: Operation, answer: Answer): string[] {
    // `default` is for faults that no test can provoke; what it could, has a line of its own.
    const found = operation.responses[String(answer.status)];
    if (found === undefined) return [`status ${answer.status} is not documented`];
    const response = this.resolve<Response>(found);
    return [...this.#headerDifferences(response, answer), ...this.#bodyDifferences(response, answer)];
  }

  #headerDifferences({ headers = {} }: Response, answer: Answer): string[] {
    const untold = TELLING_HEADERS.filter((name) => headers[name] === undefined)
      .filter((name) => answer.headers[name.toLowerCase()] !== undefined)
      .map((name) => `header ${name} is not documented`);
    const wrong = Object.entries(headers).flatMap(([name, reference]) => {
      const { schema, required } = this.resolve<{ schema: Json; required: boolean }>(reference);
      const value = answer.headers[name.toLowerCase()];
      if (value === undefined) return required ? [`header ${name} is missing`] : [];
      const typed = schema['type'] === 'integer' ? Number(value) : value;
      return this.errors(schema, typed).map((error) => `header ${name}: ${error}`);
    });
    return [...untold, ...wrong];
  }

  #bodyDifferences({ content }: Response, answer: Answer): string[] {
    if (content === undefined) return answer.bytes.length === 0 ? [] : ['the body is not empty'];
    const given = answer.headers['content-type']?.split(';')[0] ?? '';
    const media = content[given];
    if (media === undefined) return [`Content-Type ${given} is not documented`];
    if (media.schema === undefined) return [];
    return this.errors(media.schema, given === 'application/json' ? answer.json() : answer.text);
  }
}

export interface Sent {
  /** Values of `{name}` in the path. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Call['headers'];
  readonly body?: unknown;
  /** The whole Authorization header; null: none. */
  readonly authorization?: string | null;
}

/** Sends requests by operation, and keeps what each was answered. */
export class Client {
  /** Statuses that each operation answered with. */
  readonly seen = new Map<string, Set<number>>();
  readonly #hub: Hub;
  readonly #document: ApiDocument;
  /** An Authorization header for each security scheme. */
  readonly #credentials: Readonly<Record<string, string>>;

  constructor(hub: Hub, document: ApiDocument, credentials: Readonly<Record<string, string>>) {
    this.#hub = hub;
    this.#document = document;
    this.#credentials = credentials;
  }

  /** Sends; throws when the status is another, or the answer differs from the document. */
  async send(id: string, status: number, sent: Sent = {}): Promise<Answer> {
    const operation = this.#document.operation(id);
    if (status < 400) this.#checkRequest(operation, sent);
    const answer = await call(this.#hub, address(operation, sent), this.#request(operation, sent));
    const told = `${operation.method} ${operation.path} answered ${answer.status} ${answer.text.slice(0, 200)}`;
    if (answer.status !== status) throw new Error(`${told}; expected ${status}`);
    const differences = this.#document.differences(operation, answer);
    if (differences.length > 0) throw new Error(`${told}; ${differences.join('; ')}`);
    this.seen.set(id, (this.seen.get(id) ?? new Set()).add(status));
    return answer;
  }

  #request({ method, security }: Operation, { authorization, headers, body }: Sent): Call {
    const scheme = security.flatMap(Object.keys)[0];
    const fitting = scheme === undefined ? undefined : this.#credentials[scheme];
    const credential = authorization === undefined ? fitting : (authorization ?? undefined);
    const isRaw = body instanceof Uint8Array || typeof body === 'string';
    const typed = body === undefined || isRaw ? {} : { 'Content-Type': 'application/json' };
    return {
      method,
      headers: { Authorization: credential, ...typed, ...headers },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    };
  }

  /** What is accepted must conform as well, or the document is narrower than the service. */
  #checkRequest({ operationId, requestBody }: Operation, { body }: Sent): void {
    const schema = requestBody?.content['application/json']?.schema;
    // Bytes as they are stand for what is not JSON.
    if (schema === undefined || typeof body !== 'object' || body instanceof Uint8Array) return;
    const errors = this.#document.errors(schema, body);
    if (errors.length > 0) throw new Error(`the request of ${operationId}: ${errors.join('; ')}`);
  }
}

/** The path with its parameters filled: as given, else by their examples. */
export function address({ path, parameters = [] }: Operation, { path: values = {}, query = {} }: Sent): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const example = parameters.find((parameter) => parameter.name === name)?.example;
    return encodeURIComponent(String(values[name] ?? example));
  });
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
