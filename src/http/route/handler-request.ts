/** Implements the request passed to a handler. Rarely used values are computed on first use. */
import type { Caller } from '../../common/shares.ts';
import { type IncomingBody, noBody } from '../request/body.ts';
import type { CallNote } from '../request/call-note.ts';
import type { RequestHead } from '../request/head.ts';
import type { Linger, RouteRequest } from './route.ts';

export interface RequestParts {
  readonly head: RequestHead;
  readonly params: Readonly<Record<string, string>>;
  readonly body: IncomingBody | undefined;
  readonly caller: Caller;
  readonly document: unknown;
  readonly form: URLSearchParams | undefined;
  readonly charge: (calls: number) => void;
  readonly callsAtOnceMax: number;
  readonly linger: Linger;
  /** Notes of calls, for the log. */
  readonly calls: CallNote[];
}

export class HandlerRequest implements RouteRequest {
  readonly #parts: RequestParts;
  #query: URLSearchParams | undefined;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  get path(): string {
    return this.#parts.head.path;
  }

  get params(): Readonly<Record<string, string>> {
    return this.#parts.params;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#parts.head.query);
    return this.#query;
  }

  get search(): string {
    return this.#parts.head.query;
  }

  header(name: string): string | undefined {
    return this.#parts.head.header(name);
  }

  get document(): unknown {
    return this.#parts.document;
  }

  get form(): URLSearchParams {
    return this.#parts.form ?? new URLSearchParams();
  }

  get body(): IncomingBody {
    return this.#parts.body ?? noBody();
  }

  get bytesDeclared(): number {
    return this.#parts.head.bytesDeclared ?? 0;
  }

  get address(): string {
    return this.#parts.head.address;
  }

  get caller(): Caller {
    return this.#parts.caller;
  }

  charge(calls: number): void {
    this.#parts.charge(calls);
  }

  get callsAtOnceMax(): number {
    return this.#parts.callsAtOnceMax;
  }

  linger(seconds: number, gone: () => void): void {
    this.#parts.linger(seconds, gone);
  }

  noteCall(): CallNote {
    const note = {};
    this.#parts.calls.push(note);
    return note;
  }

  get isHead(): boolean {
    return this.#parts.head.method === 'HEAD';
  }
}
