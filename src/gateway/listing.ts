/** Owns how a listing travels: as lines between a first and a last one, or as arrays of the structured result. */

import { type AnyRun, itemsOf, runOf, sourceOf } from '../http/reply/byte-run.ts';
import { type Reply, stream } from '../http/reply/reply.ts';
import { acceptance } from '../http/request/accept.ts';
import type { RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { Dialect } from './dialect.ts';
import type { RpcId } from './envelope.ts';
import type { LinesWish, Listing } from './tool.ts';

/** A listing of a tool, with the rest of the tool's result. */
export interface AnsweredListing extends Listing {
  readonly tool: string;
  /** JSON of an object. */
  readonly structured: string;
}

export const LINES = 'application/x-ndjson';

/** The client names lines as what it wants. */
export function wantsLines(request: RouteRequest): boolean {
  return acceptance(request.header('accept'), LINES) === 'named';
}

/** Whether a listing goes to a client as lines: when it asks for them; unasked only where no MCP client waits for JSON. */
export function linesWish(request: RouteRequest, dialect: Dialect): LinesWish {
  const accepted = acceptance(request.header('accept'), LINES);
  if (accepted === 'named') return 'asked';
  return accepted === 'allowed' && dialect === 'bare' ? 'large' : 'never';
}

/** Unasked, lines are for a listing that is too much for one document. */
export function goesAsLines(wish: LinesWish, bytes: number): boolean {
  return wish === 'asked' || (wish === 'large' && bytes > limits.linesUnaskedBytes);
}

/** The first line says what comes, the last one the rest of the result. `id` is null on the REST route of a tool. */
export function listingLines(id: RpcId, listing: AnsweredListing): Reply {
  const start = { type: 'start', jsonrpc: '2.0', id, tool: listing.tool, ...totals(listing) };
  const rest = listing.structured.slice(1, -1);
  const end = `{"type":"end"${rest === '' ? '' : ','}${rest}}`;
  return stream(200, sourceOf([runOf(`${JSON.stringify(start)}\n`), listing.lines, runOf(`${end}\n`)]), {
    'Content-Type': LINES,
    'Cache-Control': 'no-store',
  });
}

/** Whole answers in JSON, one of which may hold a listing, with `separator` between them. */
export function jsonReply(runs: readonly AnyRun[], mediaType = 'application/json; charset=utf-8'): Reply {
  return stream(200, sourceOf(runs), { 'Content-Type': mediaType, 'Cache-Control': 'no-store' });
}

/**
 * JSON of an object whose last member, at any depth, is the structured result: with the listing's totals and arrays put
 * into it. `depth` is how many braces close after them.
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

/** As `jsonRuns`, where the structured result is a finished document and `text` has an empty object in its place. */
export function documentRuns(text: string, document: AnyRun, depth: number): AnyRun[] {
  // The newline after the document becomes a space: an answer may be one line among others.
  return [runOf(text.slice(0, -depth - 1)), itemsOf(document), runOf(text.slice(text.length - depth + 1))];
}

function totals({ count, sizeBytes }: Listing) {
  return { total_count: count, total_size_bytes: sizeBytes };
}
