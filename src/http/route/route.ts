/** Owns what a route declares and what its handler is given. */
import type { Fault } from '../../common/fault.ts';
import type { Session } from '../../common/session.ts';
import type { Caller } from '../../common/shares.ts';
import type { Reply } from '../reply/reply.ts';
import type { IncomingBody } from '../request/body.ts';
import type { CallNote } from '../request/call-note.ts';
import type { RouteDoc } from './doc.ts';

/** What a route takes as its body. Checked in this order before the handler runs: length, size, media type. */
export type BodyRule =
  | { readonly kind: 'none' }
  /** A JSON document, parsed before the handler; an absent body is `undefined`. `parse`: how, where the route has its own way. */
  | { readonly kind: 'json'; readonly bytesMax: number; readonly parse?: BodyParser }
  /** Form fields (application/x-www-form-urlencoded), parsed before the handler; an absent body has none. */
  | { readonly kind: 'form'; readonly bytesMax: number }
  /** Raw bytes with a declared length, read by the handler as they arrive. */
  | { readonly kind: 'stream'; readonly bytesMax: number; readonly mediaType: string };

/**
 * Makes what a handler finds as `document` of the bytes of a body, which come in parts and belong to the parser from now on.
 * Throws Refusal `invalid_json`.
 */
export type BodyParser = (
  parts: readonly Uint8Array[],
  request: { readonly caller: Caller; readonly params: Readonly<Record<string, string>> },
) => unknown;

/** Checks the Authorization header of one surface. Throws Refusal `unauthenticated`; a promise where that takes time. */
export type Authenticator = (authorization: string | undefined) => Session | Promise<Session>;

/** Reads a header of the request by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

/** Tells whose browser asks, from the request's own headers; undefined: nobody's that is known. It never refuses. */
type Visitor = (header: ReadHeader) => Session | undefined;

/** Counts further calls of this caller, beyond the one that its request counts for. Throws Refusal `rate_limited`. */
export type Charge = (calls: number) => void;

/** Asks for `seconds` more than a handler has. `gone` is called when nobody is there for the answer any more. */
export type Linger = (seconds: number, gone: () => void) => void;

export interface RouteRequest {
  /** As it was asked for, percent-encoded, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The query as it was sent, without the question mark. */
  readonly search: string;
  /** A header by its lower-case name; repeated ones joined with a comma. */
  header(name: string): string | undefined;
  /** The parsed document of a `json` route. */
  readonly document: unknown;
  /** The fields of a `form` route. */
  readonly form: URLSearchParams;
  /** The bytes of a `stream` route. */
  readonly body: IncomingBody;
  /** Content-Length, or 0. */
  readonly bytesDeclared: number;
  /** The client's address, as far as the proxies in front are trusted. */
  readonly address: string;
  /** Whom the work of this request is counted for. */
  readonly caller: Caller;
  readonly charge: Charge;
  /** Calls that a caller can make at once, this request's own included. */
  readonly callsAtOnceMax: number;
  readonly linger: Linger;
  /** Begins the note of one call inside, for the log. */
  noteCall(): CallNote;
  /** HEAD: the handler answers as for GET, and the body is left out. */
  readonly isHead: boolean;
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments separated by `/`; `:name` takes one segment. `*` alone: what a browser is shown where there is nothing. */
  readonly path: string;
  readonly body: BodyRule;
  /** Refuses a browser page of an origin that is neither the service's own nor allowed. */
  readonly checksOrigin?: boolean;
  /** `by_handler`: the handler decides what a session that only reads may do; default: GET and nothing else. */
  readonly scope?: 'by_handler';
  /** Not counted against the rate limit: probes. */
  readonly uncounted?: boolean;
  /**
   * What the OpenAPI document says of it; several when it stands for several paths. `page`: made for people with a
   * browser, which is no API and has no place in the document.
   */
  readonly doc: RouteDoc | readonly RouteDoc[] | 'page';
  /** How this surface words a refusal, when it is not the REST form; `body` is known only with `namesRequest`. */
  readonly refuse?: (fault: Fault, header: ReadHeader, body?: Uint8Array) => Reply;
  /** The small JSON body of a call above the rate is read all the same, so that the refusal can name its request. */
  readonly namesRequest?: true;
}

/** A route that anyone may call. */
interface OpenRoute extends RouteBase {
  readonly access: 'open';
  handle(request: RouteRequest): Reply | Promise<Reply>;
}

/** A route that answers with and without a credential; a wrong one is refused all the same. */
interface OptionalRoute extends RouteBase {
  readonly access: { readonly optional: Authenticator };
  handle(request: RouteRequest, session: Session | undefined): Reply | Promise<Reply>;
}

/** A route for browsers: it answers whoever asks, and is told who that is. */
interface VisitorRoute extends RouteBase {
  readonly access: { readonly visitor: Visitor };
  handle(request: RouteRequest, session: Session | undefined): Reply | Promise<Reply>;
}

/** A route behind a credential; the handler is given whose data it may touch. */
interface GuardedRoute extends RouteBase {
  readonly access: Authenticator;
  handle(request: RouteRequest, session: Session): Reply | Promise<Reply>;
}

export type Route = OpenRoute | OptionalRoute | VisitorRoute | GuardedRoute;
