/** Owns what a route says of itself for the OpenAPI document; the document is built from nothing else. */
import type { z } from 'zod';
import { jsonSchema } from '../../fields/json-schema.ts';

export type Schema = Readonly<Record<string, unknown>>;

export interface ParameterDoc {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** A schema with a `title` becomes a component of that name, wherever it stands. */
export interface ContentDoc {
  readonly mediaType: string;
  /** Absent: raw bytes. */
  readonly schema?: Schema;
  /** One example, or several by name. */
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface AnswerDoc {
  readonly description: string;
  /** Absent: the answer has no body. */
  readonly content?: ContentDoc | readonly ContentDoc[];
  /** Headers that this answer carries beside those of every answer. */
  readonly headers?: readonly HeaderName[];
}

/** Headers that an answer can tell something by; the document describes each once. */
export type HeaderName =
  | 'Accept-Ranges'
  | 'Content-Range'
  | 'ETag'
  | 'Link'
  | 'Location'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'X-RateLimit-Limit'
  | 'X-RateLimit-Remaining'
  | 'X-RateLimit-Reset'
  | 'X-Request-Id'
  | 'X-Tarball-Sha256';

export interface RouteDoc {
  /** The path that is described, when a route stands for several; else the route's own. */
  readonly path?: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** Longer than the summary; absent: the summary says it all. */
  readonly description?: string;
  /** Names of the security schemes that open it, any of them; none: open to all. */
  readonly security: readonly ('McpKey' | 'MirrorToken' | 'AccessToken')[];
  /** With and without a credential. */
  readonly securityOptional?: boolean;
  readonly parameters?: readonly ParameterDoc[];
  readonly request?: ContentDoc & { readonly required: boolean };
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Statuses that it refuses with beyond those that follow from what the route declares (credential, rate, body). */
  readonly refusals?: readonly number[];
  /** The form of its refusals, with a title; absent: the REST form. */
  readonly refusalSchema?: Schema;
  /** Extensions, `x-…`. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A JSON body of a request or an answer. */
export function jsonContent(schema: Schema, example?: unknown): ContentDoc {
  return { mediaType: 'application/json', schema, ...(example === undefined ? {} : { example }) };
}

/** The parameters that a schema reads: those of a query, or headers. */
export function parametersOf(place: 'query' | 'header', schema: z.ZodObject): ParameterDoc[] {
  const { properties, required = [] } = jsonSchema(schema, 'input') as {
    properties: Record<string, Schema & { description: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    description,
    ...(required.includes(name) ? { required: true } : {}),
    schema: rest,
  }));
}

/** A closed object: every property but the `optional` ones is required. */
export function objectSchema(properties: Readonly<Record<string, Schema>>, ...optional: readonly string[]): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The members of a refusal in the REST form. */
export const errorFields = {
  error: { type: 'string', description: 'One sentence that says what to do' },
  errors: {
    type: 'object',
    description: 'What is wrong, by field; with 422 only',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  },
} as const satisfies Record<string, Schema>;

/** A refusal in the REST form. */
export const errorSchema: Schema = { title: 'Error', ...objectSchema(errorFields, 'errors') };
