/** What fronts and the hub thread send each other: many at once, one message a turn. Types only. */
import type { ToolReport } from '../gateway/tool-traffic.ts';
import type { SharedRates } from '../http/checks/rates.ts';
import type { ChildDescriptor } from '../http/library/listen.ts';
import type { TrafficReport } from '../http/measure/traffic.ts';
import type { DamagedKind } from '../store/data-file/damage.ts';

/** What a front is started with. */
export interface FrontStart {
  /** Its place among the threads: 1 is the first front. */
  readonly own: number;
  readonly fronts: number;
  readonly revisions: SharedArrayBuffer;
  readonly rates: SharedRates;
  readonly connections: SharedArrayBuffer;
  readonly connectionsMax: number;
}

/** Bytes that travel beside the messages of a turn: where they begin, and how many there are. */
export interface Place {
  readonly at: number;
  readonly length: number;
}

/** Of one request that was handed over; `id` is the front's. */
export type FromFront =
  /** A request. `head`: method, path, query, peer, then names and values of header fields in turns. */
  | { readonly kind: 'open'; readonly id: number; readonly head: readonly string[]; readonly hasBody: boolean }
  | { readonly kind: 'body'; readonly id: number; readonly bytes: Place; readonly isLast: boolean }
  /** The connection has taken so many bytes of the answer. */
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  /** The connection was closed. */
  | { readonly kind: 'gone'; readonly id: number }
  | FrontNews;

/** Of the front itself. */
export type FrontNews =
  /** It can be given connections. */
  | { readonly kind: 'ready'; readonly child: ChildDescriptor }
  /** An assumption broke in it: it ends, as soon as no connection can come to it any more. */
  | { readonly kind: 'broken' }
  /** A content was found damaged, and is in the log already. */
  | { readonly kind: 'damage'; readonly of: DamagedKind }
  /** A key was used. */
  | { readonly kind: 'used'; readonly accountId: string; readonly keyId: string }
  /** A finished line of a log. */
  | { readonly kind: 'line'; readonly line: string; readonly to: 'log' | 'access' }
  | ({ readonly kind: 'figures' } & Figures);

/** What happened in a front since its last figures. */
export interface Figures {
  readonly traffic: TrafficReport;
  readonly tools: readonly ToolReport[];
}

/** A part of an answer, in the calls of the HTTP library. */
export interface AnswerPart {
  readonly kind: 'answer';
  readonly id: number;
  /** In the first part: the status line, and names and values of header fields in turns. */
  readonly status?: string;
  readonly headers?: readonly string[];
  readonly bytes?: Place;
  /**
   * `whole`: all of the body. `bare`: no body. `piece`: a part of `bytesTotal`. `chunk`: a part of a chunked body; `last`: its
   * end. `close`: the connection is closed.
   */
  readonly how: 'whole' | 'bare' | 'piece' | 'chunk' | 'last' | 'close';
  readonly bytesTotal?: number;
  /** The connection ends with the answer. */
  readonly closes?: boolean;
  /** Nothing more is read from the connection. */
  readonly pauses?: boolean;
}

export type FromHub =
  | AnswerPart
  /** What is under way for an account is cut off. */
  | { readonly kind: 'cut'; readonly accountId: string }
  | { readonly kind: 'tell_figures' }
  /** No connection comes to it any more. */
  | { readonly kind: 'leave' }
  /** From now on everything is handed over. */
  | { readonly kind: 'drain' }
  /** Finish within so many seconds, then end. */
  | { readonly kind: 'end'; readonly seconds: number };

/** What goes over in one message. */
export interface Turn<Message> {
  readonly messages: readonly Message[];
  readonly bytes: ArrayBuffer | undefined;
}
