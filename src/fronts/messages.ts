/** The messages between fronts and the hub thread, batched into one message a turn. Types only. */
import type { ToolReport } from '../gateway/tool-traffic.ts';
import type { SharedRates } from '../http/checks/rates.ts';
import type { ChildDescriptor } from '../http/library/listen.ts';
import type { TrafficReport } from '../http/measure/traffic.ts';
import type { DamagedKind } from '../store/data-file/damage.ts';

/** What a front is started with. */
export interface FrontStart {
  /** Its thread number: 1 is the first front. */
  readonly own: number;
  readonly fronts: number;
  readonly revisions: SharedArrayBuffer;
  readonly rates: SharedRates;
  /** Connections, bytes and streams of all threads: `admissionCells`. */
  readonly held: SharedArrayBuffer;
  readonly connectionsMax: number;
  /** The port that accepts the connections. */
  readonly port: number;
}

/** Position of bytes sent along with the messages of a turn: offset and length. */
export interface Place {
  readonly at: number;
  readonly length: number;
}

/** About a request that was handed over; `id` is assigned by the front. */
export type FromFront =
  /** A new request. `head`: method, path, query, peer, then alternating names and values of header fields. */
  | { readonly kind: 'open'; readonly id: number; readonly head: readonly string[]; readonly hasBody: boolean }
  | { readonly kind: 'body'; readonly id: number; readonly bytes: Place; readonly isLast: boolean }
  /** The connection has accepted `bytes` more bytes of the answer. */
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  /** The connection was closed. */
  | { readonly kind: 'gone'; readonly id: number }
  | FrontNews;

/** Reports of a front about itself. */
export type FrontNews =
  /** The front can accept connections. */
  | { readonly kind: 'ready'; readonly child: ChildDescriptor }
  /** An assumption broke in the front: it exits as soon as no more connections can reach it. */
  | { readonly kind: 'broken' }
  /** Content was found damaged; the front has already logged it. */
  | { readonly kind: 'damage'; readonly of: DamagedKind }
  /** A key was used. */
  | { readonly kind: 'used'; readonly accountId: string; readonly keyId: string }
  /** A finished line of a log. */
  | { readonly kind: 'line'; readonly line: string; readonly to: 'log' | 'access' }
  | ({ readonly kind: 'figures' } & Figures);

/** What happened in a front since its last report. */
export interface Figures {
  readonly traffic: TrafficReport;
  readonly tools: readonly ToolReport[];
}

/** A part of an answer, as a call of the HTTP library. */
export interface AnswerPart {
  readonly kind: 'answer';
  readonly id: number;
  /** Only in the first part: the status line, and alternating names and values of header fields. */
  readonly status?: string;
  readonly headers?: readonly string[];
  readonly bytes?: Place;
  /**
   * `whole`: the complete body. `bare`: no body. `piece`: a part of a body of `bytesTotal` bytes. `chunk`: a part of a
   * chunked body. `last`: its end. `close`: close the connection.
   */
  readonly how: 'whole' | 'bare' | 'piece' | 'chunk' | 'last' | 'close';
  readonly bytesTotal?: number;
  /** Close the connection after the answer. */
  readonly closes?: boolean;
  /** Stop reading from the connection. */
  readonly pauses?: boolean;
}

export type FromHub =
  | AnswerPart
  /** The hub thread has received `bytes` more bytes of bodies. */
  | { readonly kind: 'received'; readonly bytes: number }
  /** Abort the running exchanges of an account. */
  | { readonly kind: 'cut'; readonly accountId: string }
  | { readonly kind: 'tell_figures' }
  /** No more connections will arrive: exit. */
  | { readonly kind: 'leave' }
  /** From now on, hand over every request. */
  | { readonly kind: 'drain' }
  /** Finish the answers within `seconds`, then exit. */
  | { readonly kind: 'end'; readonly seconds: number };

/** Everything sent in one turn of the event loop, as one message. */
export interface Turn<Message> {
  readonly messages: readonly Message[];
  readonly bytes: ArrayBuffer | undefined;
}
