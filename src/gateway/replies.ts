/** Builds replies of answered messages: a single one, an array, or lines. */
import type { ByteSource, Parts } from '../http/reply/body.ts';
import { type AnyRun, runOf, sourceOf } from '../http/reply/byte-run.ts';
import { jsonText, type Reply, type ReplyHeaders, textOf } from '../http/reply/reply.ts';
import { INSUFFICIENT_SCOPE } from '../http/reply/status.ts';
import type { RouteRequest } from '../http/route/route.ts';
import type { RpcId } from './envelope.ts';
import {
  type AnsweredListing,
  documentRuns,
  goesAsLines,
  jsonReply,
  jsonRuns,
  LINES,
  listingLines,
  wantsLines,
} from './listing.ts';
import type { LinesWish } from './tool.ts';

export const LINES_HEADERS = { 'Content-Type': LINES, 'Cache-Control': 'no-store' };

/** Closing braces at the end of the structured result: its own, the result's, the response's. */
const STRUCTURED_DEPTH = 3;

/** One answered message, and its HTTP status when it is not part of a batch. */
export interface Answered {
  readonly id: RpcId;
  /** JSON of the response. */
  readonly response: Parts;
  readonly status: number;
  /** Inserted into the response. */
  readonly listing?: AnsweredListing | undefined;
  readonly lines?: LinesWish;
  /** Replaces the empty structured result. */
  readonly document?: AnyRun | undefined;
  readonly headers?: ReplyHeaders | undefined;
  /** Replaces the response. */
  readonly stream?: Reply | undefined;
}

/** The reply to one message. */
export function messageReply(request: RouteRequest, answered: Answered): Reply {
  const { id, response, status, listing, lines: wish = 'never', headers } = answered;
  if (listing !== undefined && goesAsLines(wish, listing.lines.bytes)) return listingLines(id, listing);
  if (isStreamed(answered)) {
    return wantsLines(request) ? jsonReply([...runsOf(answered), runOf('\n')], LINES) : jsonReply(runsOf(answered));
  }
  if (status === 401) return jsonText(status, response, { 'WWW-Authenticate': 'McpKey realm="cairn"' });
  if (status === 403) return jsonText(status, response, { 'WWW-Authenticate': INSUFFICIENT_SCOPE });
  if (status !== 200 || !wantsLines(request)) return jsonText(status, response, headers);
  return { status, headers: LINES_HEADERS, body: [...response, '\n'] };
}

/** One response of a batch as a line; undefined when the message has no response. */
export async function answerLine(answer: Promise<Answered | undefined>): Promise<Parts | ByteSource | undefined> {
  const answered = await answer;
  if (answered === undefined) return undefined;
  return isStreamed(answered) ? sourceOf([...runsOf(answered), runOf('\n')]) : [...answered.response, '\n'];
}

/** One answer as the last event of its call. */
export function answerEvent(answered: Answered): Parts | ByteSource {
  const [start, end] = ['event: message\ndata: ', '\n\n'];
  if (isStreamed(answered)) return sourceOf([runOf(start), ...runsOf(answered), runOf(end)]);
  return [start, ...answered.response, end];
}

/** The responses of a batch as an array. */
export function arrayReply(done: readonly Answered[]): Reply {
  if (!done.some(isStreamed)) {
    const items = done.flatMap(({ response }, index) => [index === 0 ? '[' : ',', ...response]);
    return jsonText(200, [...items, ']']);
  }
  const runs = done.flatMap((answered, index): AnyRun[] => [runOf(index === 0 ? '[' : ','), ...runsOf(answered)]);
  return jsonReply([...runs, runOf(']')]);
}

/** True when a part of the answer is generated while it is sent. */
function isStreamed({ listing, document }: Answered): boolean {
  return listing !== undefined || document !== undefined;
}

/** JSON of one answer, without a newline. */
function runsOf({ response, listing, document }: Answered): AnyRun[] {
  const text = textOf(response);
  if (listing !== undefined) return jsonRuns(text, listing, STRUCTURED_DEPTH);
  return document === undefined ? [runOf(text)] : documentRuns(text, document, STRUCTURED_DEPTH);
}
