/** What the steps of a round trip share: clients that note which operations they called, and how a step fails. */
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from './schema.js';

export type Hub = Client<paths>;

export interface RoundTripOptions {
  readonly baseUrl: string;
  /**
   * The hub itself, when `baseUrl` is a proxy that holds each message against the document. Archives of the mirror go
   * there directly: prism reads bodies as text, which changes them. What is meant to be refused is not sent at all.
   */
  readonly hubUrl?: string;
  /** Makes an access token of the account with this email. */
  readonly accessToken: (email: string) => Promise<string>;
  /** Told the outcome of each step; an error: it failed. */
  readonly report: (step: string, error?: unknown) => void;
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

export class RoundTrip {
  readonly #options: RoundTripOptions;
  readonly #called = new Set<string>();

  constructor(options: RoundTripOptions) {
    this.#options = options;
  }

  /** A client with this Authorization header, or none. `carriesBytes`: see `hubUrl`. */
  client(authorization?: string, carriesBytes = false): Hub {
    const { hubUrl, baseUrl: usual } = this.#options;
    const baseUrl = carriesBytes ? (hubUrl ?? usual) : usual;
    const headers = { 'User-Agent': 'cairn-openapi-test/1', ...(authorization && { Authorization: authorization }) };
    const client = createClient<paths>({ baseUrl, headers });
    const record: Middleware = {
      onRequest: ({ request, schemaPath }) => {
        this.#called.add(`${request.method} ${schemaPath}`);
      },
    };
    client.use(record);
    return client;
  }

  async step(name: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.#options.report(name);
    } catch (error) {
      this.#options.report(name, error);
    }
  }

  /** Throws when the document describes an operation that this client never called. */
  checkAllCalled(described: Readonly<Record<string, unknown>>): void {
    const operations = Object.entries(described).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const missing = operations.filter((operation) => !this.#called.has(operation));
    equal(missing, [], 'operations without a call in client.ts');
  }
}

/** The data of an answer; throws when it was refused. */
export function taken<T>({ data, error, response }: Answer<T>): T {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status} ${JSON.stringify(error)}`);
  return data as T;
}

export function equal(actual: unknown, expected: unknown, what: string): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (given !== wanted) throw new Error(`${what}: ${given} instead of ${wanted}`);
}
