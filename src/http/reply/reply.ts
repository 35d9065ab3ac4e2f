/** Declares the reply of a handler; only the exchange turns it into bytes on a socket. */

import type { ByteSource, Parts } from './body.ts';
import type { Feed } from './feed.ts';

export type ReplyHeaders = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: string | Parts | ByteSource | Feed | undefined;
  /** Mostly waits for events. Its creator counts it, so it takes no place among the streams. */
  readonly listens?: true;
  /** Closes the connection immediately, or after the client had time to read this answer. */
  readonly close?: 'now' | 'after';
}

export const NO_HEADERS: ReplyHeaders = {};

/**
 * Headers and others, which replace those of the same name. In Node.js 20 a literal that begins with a spread makes a
 * hidden class for each further member, each time: 2.4 µs instead of 0.1, and long pauses of the garbage collector.
 */
export function withHeaders(headers: ReplyHeaders, ...more: readonly ReplyHeaders[]): ReplyHeaders {
  return Object.assign({}, headers, ...more) as ReplyHeaders;
}

const JSON_HEADERS: ReplyHeaders = {
  'Content-Type': 'application/json; charset=utf-8',
  // Answers contain data or secrets of one account: no cache in between may store them.
  'Cache-Control': 'no-store',
};

export function json(status: number, value: unknown, headers: ReplyHeaders = NO_HEADERS): Reply {
  return jsonText(status, JSON.stringify(value), headers);
}

/** Like `json`, for a serialized document. */
export function jsonText(status: number, text: string | Parts, headers: ReplyHeaders = NO_HEADERS): Reply {
  return { status, headers: headers === NO_HEADERS ? JSON_HEADERS : withHeaders(JSON_HEADERS, headers), body: text };
}

/** Joins parts to one text. */
export function textOf(parts: Parts): string {
  return parts.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString())).join('');
}

/** A short body that is in memory. */
export function bytes(status: number, body: Uint8Array, headers: ReplyHeaders): Reply {
  return { status, headers, body: [body] };
}

export function stream(status: number, source: ByteSource, headers: ReplyHeaders): Reply {
  return { status, headers, body: source };
}

/** Sends bodies in order of readiness. */
export function feed(status: number, bodies: Feed, headers: ReplyHeaders): Reply {
  return { status, headers, body: bodies };
}

export function empty(status: number, headers: ReplyHeaders = NO_HEADERS): Reply {
  return { status, headers, body: undefined };
}

/** True when a body is read while it is sent. */
export function isSource(body: Reply['body']): body is ByteSource {
  return typeof body === 'object' && 'bytesTotal' in body;
}

/** True when a body is produced while it is sent. */
export function isFeed(body: Reply['body']): body is Feed {
  return typeof body === 'object' && 'next' in body;
}
