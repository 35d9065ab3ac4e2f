/** Describes a route for the OpenAPI document, which is generated only from these descriptions. */
import type { z } from 'zod';

export type Schema = Readonly<Record<string, unknown>>;

/** A segment of a path, such as `:id`. */
export interface PathParameter<T> {
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
  /** Parses the decoded segment. Never throws: what names nothing becomes a value that is found nowhere. */
  read(segment: string): T;
}

/** A schema with a `title` becomes a component of that name, at any depth. */
export interface ContentDoc {
  readonly mediaType: string;
  /** Absent for raw bytes. */
  readonly schema?: Schema | z.ZodType;
  /** One example, or several by name. */
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface AnswerDoc<S extends z.ZodType = z.ZodType> {
  readonly description: string;
  /** Schema of a body in JSON. */
  readonly schema?: S | Schema;
  readonly example?: unknown;
  /** A body in another media type, or in several. */
  readonly content?: readonly ContentDoc[];
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
  /** True when the operation works without a credential; default: when the access of its route does. */
  readonly securityOptional?: boolean;
  readonly params?: Readonly<Record<string, PathParameter<unknown>>>;
  readonly query?: z.ZodObject;
  /** An example of a header is declared in its field: `.meta({ examples })`. */
  readonly headers?: z.ZodObject;
  readonly request?: ContentDoc & { readonly required: boolean };
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Statuses of refusals beyond those that follow from the declaration of the route (credential, rate, body). */
  readonly refusals?: readonly number[];
  /** Schema of its refusals, with a title; absent for the REST form. */
  readonly refusalSchema?: Schema;
  /** Extensions, `x-…`. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A JSON body of a request, or one of several bodies of an answer. */
export function jsonContent(schema: Schema | z.ZodType, example?: unknown): ContentDoc {
  return { mediaType: 'application/json', schema, example };
}

/** A closed object schema of required and optional properties. */
export function objectSchema(required: Readonly<Record<string, Schema>>, optional: typeof required = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

const sentence: Schema = { type: 'string', description: 'One sentence: what is wrong and what to do' };
const wrongFields: Schema = {
  type: 'object',
  description: 'What is wrong, by field; with 422 only',
  additionalProperties: { type: 'array', items: { type: 'string' } },
};

/** Schema of a refusal in the REST form, with the members that a surface adds. */
export function restRefusalSchema(title: string, more: Readonly<Record<string, Schema>> = {}): Schema {
  return { title, ...objectSchema({ error: sentence }, { errors: wrongFields, ...more }) };
}

export const errorSchema = restRefusalSchema('Error');
