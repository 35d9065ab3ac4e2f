/** Sends listings: as lines between a start and an end line, or as arrays in the structured result. */

import { type AnyRun, itemsOf, runOf, sourceOf } from '../http/reply/byte-run.ts';
import { type Reply, stream } from '../http/reply/reply.ts';
import { acceptance } from '../http/request/accept.ts';
import type { RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { Dialect } from './dialect.ts';
import type { RpcId } from './envelope.ts';
import type { LinesWish, Listing } from './tool.ts';

/** A listing of a tool, with the rest of its result. */
export interface AnsweredListing extends Listing {
  readonly tool: string;
  /** JSON of an object. */
  readonly structured: string;
}

export const LINES = 'application/x-ndjson';

/** True when the client's `Accept` names the type of lines. */
export function wantsLines(request: RouteRequest): boolean {
  return acceptance(request.header('accept'), LINES) === 'named';
}

/** When a client receives listings as lines: on request; unrequested only in the bare dialect (MCP expects JSON). */
export function linesWish(request: RouteRequest, dialect: Dialect): LinesWish {
  const accepted = acceptance(request.header('accept'), LINES);
  if (accepted === 'named') return 'asked';
  return accepted === 'allowed' && dialect === 'bare' ? 'large' : 'never';
}

/** True when a listing of this size is sent as lines: any if the client requested lines, else only a large one. */
export function goesAsLines(wish: LinesWish, bytes: number): boolean {
  return wish === 'asked' || (wish === 'large' && bytes > limits.linesUnaskedBytes);
}

/** A start line with the totals, the records, an end line with the rest of the result. `id` is null on REST routes. */
export function listingLines(id: RpcId, listing: AnsweredListing): Reply {
  const start = { type: 'start', jsonrpc: '2.0', id, tool: listing.tool, ...totals(listing) };
  const rest = listing.structured.slice(1, -1);
  const end = `{"type":"end"${rest === '' ? '' : ','}${rest}}`;
  return stream(200, sourceOf([runOf(`${JSON.stringify(start)}\n`), listing.lines, runOf(`${end}\n`)]), {
    'Content-Type': LINES,
    'Cache-Control': 'no-store',
  });
}

/** A reply of JSON runs, which may include listings. */
export function jsonReply(runs: readonly AnyRun[], mediaType = 'application/json; charset=utf-8'): Reply {
  return stream(200, sourceOf(runs), { 'Content-Type': mediaType, 'Cache-Control': 'no-store' });
}

/**
 * JSON of an object whose last member, at any depth, is the structured result, with the listing's totals and arrays
 * inserted there. `depth`: number of closing braces after them.
 */
export function jsonRuns(text: string, listing: Listing, depth: number): AnyRun[] {
  const inside = JSON.stringify(totals(listing)).slice(1, -1);
  const separator = text.at(-depth - 1) === '{' ? '' : ',';
  const arrays = Object.entries(listing.members).flatMap(([name, lines], index) => [
    runOf(`${index === 0 ? '' : ']'},${JSON.stringify(name)}:[`),
    itemsOf(lines),
  ]);
  return [runOf(`${text.slice(0, -depth)}${separator}${inside}`), ...arrays, runOf(`]${text.slice(-depth)}`)];
}

/** Like `jsonRuns`, for a structured result that is a finished document; `text` has an empty object in its place. */
export function documentRuns(text: string, document: AnyRun, depth: number): AnyRun[] {
  // `itemsOf` turns the newline after the document into a space: the answer may be one line of several.
  return [runOf(text.slice(0, -depth - 1)), itemsOf(document), runOf(text.slice(text.length - depth + 1))];
}

function totals({ count, sizeBytes }: Listing) {
  return { total_count: count, total_size_bytes: sizeBytes };
}
