/** Collects the shared parts of the OpenAPI document: schemas by title, responses, headers. */
import type { HeaderName, Schema } from '../../http/route/doc.ts';

export type Json = Readonly<Record<string, unknown>>;

const whole = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;

interface HeaderDoc {
  readonly description: string;
  readonly schema: Schema;
}

const HEADERS: Readonly<Record<HeaderName, HeaderDoc>> = {
  'Accept-Ranges': { description: 'Byte ranges are accepted', schema: { const: 'bytes' } },
  'Content-Range': { description: 'Which bytes these are, of how many', schema: text },
  ETag: { description: 'The SHA-256 of the bytes, in quotes', schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' } },
  Link: { description: '`<path of the next page>; rel="next"`, when there is one', schema: text },
  Location: { description: 'Path of what was made', schema: { type: 'string', format: 'uri-reference' } },
  'Retry-After': { description: 'Seconds to wait before trying again', schema: whole },
  'WWW-Authenticate': { description: 'The accepted scheme; absent on a wrong password', schema: text },
  'X-RateLimit-Limit': { description: 'Calls allowed at once; absent while the limit is off', schema: whole },
  'X-RateLimit-Remaining': { description: 'Calls left right now', schema: whole },
  'X-RateLimit-Reset': { description: 'Seconds until all of them are available again', schema: whole },
  'X-Request-Id': {
    description: 'Request ID, also in the log; the client’s own ID if it sent one',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'X-Tarball-Sha256': {
    description: 'SHA-256 of the whole blob',
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
};

/** Headers that are optional where listed; the rate limit headers are absent while the limit is off. */
const SOMETIMES: ReadonlySet<HeaderName> = new Set([
  'Link',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]);

/** Members of a schema with data as values, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);

/** Collects referenced parts only, so that the document has no unused ones. Throws when two of one name differ. */
export class Components {
  readonly #schemas = new Map<string, unknown>();
  readonly #responses = new Map<string, Json>();
  readonly #headers = new Set<HeaderName>();

  document(): Json {
    return {
      schemas: Object.fromEntries(this.#schemas),
      responses: Object.fromEntries(this.#responses),
      headers: Object.fromEntries(
        [...this.#headers].map((name) => [name, { ...HEADERS[name], required: !SOMETIMES.has(name) }]),
      ),
    };
  }

  /** Returns a schema with every titled schema moved to the components. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.schema(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const walked = Object.fromEntries(
      Object.entries(schema).map(([name, value]) => [name, DATA.has(name) ? value : this.schema(value)]),
    );
    const { title } = walked;
    return typeof title === 'string' ? share(this.#schemas, 'schemas', title, { title, ...walked }) : walked;
  }

  response(name: string, response: Json): Json {
    return share(this.#responses, 'responses', name, response);
  }

  headers(names: readonly HeaderName[]): Json {
    for (const name of names) this.#headers.add(name);
    return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  }
}

function share<T>(shared: Map<string, T>, kind: string, name: string, value: T): Json {
  const earlier = shared.get(name);
  if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(value)) {
    throw new Error(`two ${kind} of the OpenAPI document have the name ${name} and differ`);
  }
  shared.set(name, value);
  return { $ref: `#/components/${kind}/${name}` };
}
