/** Describes a route for the OpenAPI document, which is generated only from these descriptions. */
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

/** A schema with a `title` becomes a component of that name, at any depth. */
export interface ContentDoc {
  readonly mediaType: string;
  /** Absent for raw bytes. */
  readonly schema?: Schema;
  /** One example, or several by name. */
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface AnswerDoc {
  readonly description: string;
  /** Absent when the answer has no body. */
  readonly content?: ContentDoc | readonly ContentDoc[];
  /** Headers of this answer, in addition to those of every answer. */
  readonly headers?: readonly HeaderName[];
}

/** Headers with information in an answer. The document describes each once. */
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
  /** The described path, when a route serves several; default: the path of the route. */
  readonly path?: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** Details beyond the summary. */
  readonly description?: string;
  /** Names of the accepted security schemes, any of them; empty when public. */
  readonly security: readonly ('McpKey' | 'MirrorToken' | 'AccessToken')[];
  /** True when the route works with and without a credential. */
  readonly securityOptional?: boolean;
  readonly parameters?: readonly ParameterDoc[];
  readonly request?: ContentDoc & { readonly required: boolean };
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Statuses of refusals beyond those that follow from the declaration of the route (credential, rate, body). */
  readonly refusals?: readonly number[];
  /** Schema of its refusals, with a title; absent for the REST form. */
  readonly refusalSchema?: Schema;
  /** Extensions, `x-…`. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A JSON body of a request or an answer. */
export function jsonContent(schema: Schema, example?: unknown): ContentDoc {
  return { mediaType: 'application/json', schema, ...(example === undefined ? {} : { example }) };
}

/** Parameters of a schema for a query or for headers. */
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

/** A closed object schema: every property is required except the `optional` ones. */
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
  error: { type: 'string', description: 'One sentence: what is wrong and what to do' },
  errors: {
    type: 'object',
    description: 'What is wrong, by field; with 422 only',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  },
} as const satisfies Record<string, Schema>;

/** A refusal in the REST form. */
export const errorSchema: Schema = { title: 'Error', ...objectSchema(errorFields, 'errors') };
