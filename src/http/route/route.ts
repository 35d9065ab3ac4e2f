/** Declares the types of a route and of the request passed to its handler. */
import type { Fault } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import type { Caller } from '../../common/shares.ts';
import type { Reply } from '../reply/reply.ts';
import type { IncomingBody } from '../request/body.ts';
import type { CallNote } from '../request/call-note.ts';
import type { RouteDoc } from './doc.ts';

/** What a route accepts as its body. Checked before the handler runs, in this order: length, size, media type. */
export type BodyRule =
  | { readonly kind: 'none' }
  /** A JSON document, parsed before the handler; `undefined` without a body. `parse`: the route's own parser. */
  | { readonly kind: 'json'; readonly bytesMax: number; readonly parse?: BodyParser }
  /** Form fields (application/x-www-form-urlencoded), parsed before the handler; no fields without a body. */
  | { readonly kind: 'form'; readonly bytesMax: number }
  /** Raw bytes with a declared length, read by the handler as they arrive. */
  | { readonly kind: 'stream'; readonly bytesMax: number; readonly mediaType: string };

/**
 * Parses the bytes of a body into the `document` of a handler. The bytes come in parts and are owned by the parser.
 * Throws Refusal `invalid_json`.
 */
export type BodyParser = (
  parts: readonly Uint8Array[],
  request: { readonly caller: Caller; readonly params: Readonly<Record<string, string>> },
) => unknown;

/**
 * Checks the Authorization header of one surface. Throws Refusal `unauthenticated`. Returns a promise when that takes
 * time.
 */
export interface Authenticator {
  (authorization: string | undefined): Principal | Promise<Principal>;
  /** Names of the accepted schemes, any of them, for the documents. */
  readonly accepts: readonly SecurityScheme[];
}

export type SecurityScheme = 'McpKey' | 'MirrorToken' | 'AccessToken';

/** Reads a header of the request by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

/** Identifies the browser's user from the request headers. Returns undefined for an unknown one; never refuses. */
type Visitor = (header: ReadHeader) => Principal | undefined;

/** Counts further calls of this caller, in addition to the request. Throws Refusal `rate_limited`. */
export type Charge = (calls: number) => void;

/** Extends the handler's deadline by `seconds` (repeated calls do not add up). `gone` is called at the end. */
export type Linger = (seconds: number, gone: () => void) => void;

export interface RouteRequest {
  /** As requested: percent-encoded, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The query as sent, without the question mark. */
  readonly search: string;
  /** Returns a header by its lower-case name; repeated headers are joined with a comma. */
  header(name: string): string | undefined;
  /** The parsed document of a `json` route. */
  readonly document: unknown;
  /** The fields of a `form` route. */
  readonly form: URLSearchParams;
  /** The bytes of a `stream` route. */
  readonly body: IncomingBody;
  /** Content-Length, or 0. */
  readonly bytesDeclared: number;
  /** The client's address; forwarded addresses count only from trusted proxies. */
  readonly address: string;
  /** The caller that the work of this request is counted for. */
  readonly caller: Caller;
  readonly charge: Charge;
  /** Calls that a caller can make at once, including this request. */
  readonly callsAtOnceMax: number;
  readonly linger: Linger;
  /** Starts a note of one call inside this request, for the log. */
  noteCall(): CallNote;
  /** True for HEAD: the handler answers as for GET, and the body is omitted. */
  readonly isHead: boolean;
}

export interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments separated by `/`; `:name` matches one segment. `*` alone is the "not found" page shown in a browser. */
  readonly path: string;
  readonly body: BodyRule;
  /** Refuses requests from browser pages whose origin is neither the service's own nor allowed. */
  readonly checksOrigin?: boolean;
  /** `by_handler`: the handler decides what a read-only principal may do; default: only GET. */
  readonly scope?: 'by_handler';
  /** What changes data, as a read-only principal is told, where `this request` would mislead. */
  readonly writes?: string;
  /** Not counted against the rate limit; for probes. */
  readonly uncounted?: boolean;
  /**
   * Description for the OpenAPI document; several when the route serves several paths, made one by one when they are
   * read. `page`: made for people with a browser, so not in the document.
   */
  readonly doc: RouteDoc | Iterable<RouteDoc> | 'page';
  /** Formats refusals of this surface, when not in the REST form. `body` is set only with `namesRequest`. */
  readonly refuse?: (fault: Fault, header: ReadHeader, body?: Uint8Array) => Reply;
  /** The small JSON body of a call above the rate is still read, so that the refusal can name its request. */
  readonly namesRequest?: true;
}

/** A public route. */
interface OpenRoute extends RouteBase {
  readonly access: 'open';
  handle(request: RouteRequest): Reply | Promise<Reply>;
}

/** A route that works with and without a credential; an invalid credential is still refused. */
interface OptionalRoute extends RouteBase {
  readonly access: { readonly optional: Authenticator };
  handle(request: RouteRequest, principal: Principal | undefined): Reply | Promise<Reply>;
}

/** A route for browsers: serves everybody, with the principal of a known user. */
interface VisitorRoute extends RouteBase {
  readonly access: {
    readonly visitor: Visitor;
    /** The handler first asks for a password that was not entered recently in this session. */
    readonly fresh?: boolean;
  };
  handle(request: RouteRequest, principal: Principal | undefined): Reply | Promise<Reply>;
}

/** A route that requires a credential; the handler gets the principal. */
interface GuardedRoute extends RouteBase {
  readonly access: Authenticator;
  handle(request: RouteRequest, principal: Principal): Reply | Promise<Reply>;
}

export type Route = OpenRoute | OptionalRoute | VisitorRoute | GuardedRoute;
