/**
 * Declares REST operations: one declaration makes the route, its part of the OpenAPI document, and the typed values
 * that its handler gets.
 */
import type { z } from 'zod';
import type { Principal } from '../../common/principal.ts';
import { readId } from '../../fields/kinds.ts';
import { readFields, readQuery } from '../../fields/read.ts';
import { limits } from '../../limits/service.ts';
import { empty, json, type Reply } from '../reply/reply.ts';
import { type AnswerDoc, jsonContent, type PathParameter, type RouteDoc } from './doc.ts';
import type { Authenticator, BodyRule, Route, RouteBase, RouteRequest } from './route.ts';

type Fields = z.ZodObject;
type Awaitable<T> = T | Promise<T>;
/** Undefined on a public route. */
type PrincipalOf<A> = A extends 'open' ? undefined : Principal;

/** What callers send in the path, the query and a JSON body. */
interface Inputs<P, Q extends Fields, B extends Fields> {
  /** The `:name` segments of the path. */
  readonly params?: { readonly [K in keyof P]: PathParameter<P[K]> };
  readonly query?: Q;
  readonly body?: B;
  /** False when a body without fields may be omitted. */
  readonly bodyRequired?: false;
  /** Validates the body where `body` alone cannot, such as ids of missing rows. Throws Refusal `invalid_fields`. */
  readonly readBody?: (given: unknown, principal: Principal) => z.output<B>;
}

/**
 * A request as its operation declares it. A part is validated when the handler reads it: what is not read costs
 * nothing, and the handler decides which refusal comes first.
 */
class OperationCall<P, Q extends Fields, B extends Fields> {
  readonly request: RouteRequest;
  readonly #inputs: Inputs<P, Q, B>;
  readonly #principal: Principal | undefined;

  constructor(request: RouteRequest, inputs: Inputs<P, Q, B>, principal: Principal | undefined) {
    this.request = request;
    this.#inputs = inputs;
    this.#principal = principal;
  }

  get params(): P {
    const values: Partial<P> = {};
    const { params } = this.#inputs;
    for (const name in params) values[name] = params[name].read(this.request.params[name] ?? '');
    return values as P;
  }

  /** Throws Refusal `invalid_fields`. */
  get query(): z.output<Q> {
    return readQuery(this.#inputs.query as Q, this.request.query);
  }

  /** Throws Refusal `invalid_fields`. */
  get body(): z.output<B> {
    const { body, readBody, bodyRequired } = this.#inputs;
    const { document } = this.request;
    const given = document === undefined && bodyRequired === false ? {} : document;
    return readBody === undefined ? readFields(body as B, given) : readBody(given, this.#principal as Principal);
  }
}

interface Declaration<A extends 'open' | Authenticator, P, Q extends Fields, B extends Fields, S extends z.ZodType>
  extends Inputs<P, Q, B>,
    Omit<RouteBase, 'body' | 'doc'>,
    Omit<RouteDoc, 'path' | 'params' | 'query' | 'answers'> {
  readonly access: A;
  /** Maximum length of the JSON body. Default: `limits.jsonBodyBytesMax`. */
  readonly bytesMax?: number;
  /** Example of `body`. */
  readonly example?: z.input<B>;
  /** A body other than JSON with the fields `body`; `request` describes it. */
  readonly accepts?: BodyRule;
  /** The answer to an accepted request. */
  readonly answer: AnswerDoc<S> & {
    /** Default: 200. */
    readonly status?: number;
  };
  /** Further answers by status. */
  readonly answers?: RouteDoc['answers'];
  /** Returns the path of what was created, for the header Location. */
  readonly location?: (created: z.input<S>) => string;
  /** Does the work and returns the value to answer with in JSON; nothing with status 204. */
  readonly handle?: (call: OperationCall<P, Q, B>, principal: PrincipalOf<A>) => Awaitable<z.input<S>>;
  /** Instead of `handle`, for an answer with other headers, or not made of one value. */
  readonly reply?: (call: OperationCall<P, Q, B>, principal: PrincipalOf<A>) => Awaitable<Reply>;
}

/** Makes the route of an operation. Throws when the declaration does not describe the segments of its path. */
export function operation<
  A extends 'open' | Authenticator,
  P = unknown,
  Q extends Fields = never,
  B extends Fields = never,
  S extends z.ZodType = z.ZodType,
>(declared: Declaration<A, P, Q, B, S>): Route {
  const { method, path, body, accepts, bytesMax = limits.jsonBodyBytesMax, params = {} } = declared;
  const segments = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  if (segments.join() !== Object.keys(params).join())
    throw new Error(`${method} ${path} does not declare its segments`);
  const replyTo = replying(declared);
  return {
    ...declared,
    body: accepts ?? (body === undefined ? { kind: 'none' } : { kind: 'json', bytesMax }),
    doc: docOf(declared),
    handle: (request: RouteRequest, principal?: Principal) =>
      replyTo(new OperationCall(request, declared, principal), principal as never),
  } as Route;
}

/** Turns the handler of a declaration into one that replies. */
function replying<A extends 'open' | Authenticator, P, Q extends Fields, B extends Fields, S extends z.ZodType>({
  handle,
  reply,
  answer: { status = 200 },
  location,
}: Declaration<A, P, Q, B, S>): NonNullable<typeof reply> {
  if (reply !== undefined) return reply;
  if (handle === undefined) throw new Error('an operation needs a handler');
  const jsonOf = (value: z.input<S>) => {
    if (status === 204) return empty(204);
    return location === undefined ? json(status, value) : json(status, value, { Location: location(value) });
  };
  return (call, principal) => {
    const value = handle(call, principal);
    return value instanceof Promise ? value.then(jsonOf) : jsonOf(value);
  };
}

function docOf<A extends 'open' | Authenticator, P, Q extends Fields, B extends Fields, S extends z.ZodType>(
  declared: Declaration<A, P, Q, B, S>,
): RouteDoc {
  const {
    params,
    query,
    body,
    answer: { status = 200, ...answer },
    location,
    refusals = [],
  } = declared;
  return {
    ...declared,
    ...(body && { request: { required: declared.bodyRequired !== false, ...jsonContent(body, declared.example) } }),
    answers: { [status]: location === undefined ? answer : { ...answer, headers: ['Location'] }, ...declared.answers },
    refusals: [
      ...refusals,
      ...(params === undefined ? [] : [404]),
      ...(query === undefined && body === undefined ? [] : [422]),
    ],
  };
}

/** The segment `:id` of a record counted per account. One that cannot be an id is undefined, which no record has. */
export function recordId(what: string, example: number): PathParameter<number | undefined> {
  return {
    description: `Id of the ${what}`,
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    example,
    read: readId,
  };
}
