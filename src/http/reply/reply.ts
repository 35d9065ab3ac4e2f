/** Owns the value that a handler answers with; only the exchange turns it into bytes on a socket. */

import type { ByteSource, Parts } from './body.ts';
import type { Feed } from './feed.ts';

export type ReplyHeaders = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: string | Parts | ByteSource | Feed | undefined;
  /** It mostly waits for events: whoever makes it counts it, and it takes no place among the streams. */
  readonly listens?: true;
  /** Close the connection: at once, or once the client had time to read this answer. */
  readonly close?: 'now' | 'after';
}

export const NO_HEADERS: ReplyHeaders = {};

const JSON_HEADERS: ReplyHeaders = {
  'Content-Type': 'application/json; charset=utf-8',
  // Answers hold one account's data or its secrets: no cache on the way may keep them.
  'Cache-Control': 'no-store',
};

export function json(status: number, value: unknown, headers: ReplyHeaders = NO_HEADERS): Reply {
  return jsonText(status, JSON.stringify(value), headers);
}

/** As `json`, for a document that is written already. */
export function jsonText(status: number, text: string | Parts, headers: ReplyHeaders = NO_HEADERS): Reply {
  return { status, headers: headers === NO_HEADERS ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body: text };
}

/** Parts as one text. */
export function textOf(parts: Parts): string {
  return parts.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString())).join('');
}

export function stream(status: number, source: ByteSource, headers: ReplyHeaders): Reply {
  return { status, headers, body: source };
}

/** Bodies one after another, each as soon as it is ready. */
export function feed(status: number, bodies: Feed, headers: ReplyHeaders): Reply {
  return { status, headers, body: bodies };
}

export function empty(status: number, headers: ReplyHeaders = NO_HEADERS): Reply {
  return { status, headers, body: undefined };
}

/** Whether a body is sent piece by piece. */
export function isSource(body: Reply['body']): body is ByteSource {
  return typeof body === 'object' && 'bytesTotal' in body;
}

/** Whether a body is made while it is sent. */
export function isFeed(body: Reply['body']): body is Feed {
  return typeof body === 'object' && 'next' in body;
}
