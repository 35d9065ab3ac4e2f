/** Caches results of tool calls: decides which calls are cached, and under which key. */
import { type AnswerPlace, KnownAnswers, type KnownAnswersOptions } from '../cache/answers.ts';
import { limits } from '../limits/service.ts';
import type { Tool } from './tool.ts';

/** A result as JSON, in text or UTF-8. */
export interface WrittenResult<Text extends string | Uint8Array = string | Uint8Array> {
  /** The members `content` and `structuredContent`, in this order, without the surrounding braces. */
  readonly members: Text;
  /** The structured result alone; the members end with it. */
  readonly structured: Text;
  /** The members for a model, which sees only one of the two: both have the text, and only it. */
  readonly plain: Text;
}

/** Cached results, in UTF-8 so that each is encoded once. */
export type KnownResults = KnownAnswers<WrittenResult<Uint8Array>>;

/** Encodes a result for the cache. */
export function encodedResult({ members, structured, plain }: WrittenResult<string>): WrittenResult<Uint8Array> {
  const bytes = Buffer.from(members);
  const own = bytes.subarray(bytes.length - Buffer.byteLength(structured));
  return { members: bytes, structured: own, plain: Buffer.from(plain) };
}

export function openKnownResults(
  over: Pick<KnownAnswersOptions<WrittenResult<Uint8Array>>, 'revision' | 'now'>,
): KnownResults {
  const bytesOf = ({ members, plain }: WrittenResult<Uint8Array>) => members.length + plain.length;
  return new KnownAnswers({ ...over, bytesOf, bytesMax: limits.resultsRememberedBytesMax });
}

/** The cache place of a tool call; undefined when the call is not cached. */
export function placeOfCall(
  results: KnownResults,
  { name, madeFrom }: Pick<Tool, 'name' | 'madeFrom'>,
  accountId: string,
  given: unknown,
): AnswerPlace | undefined {
  const args = madeFrom === undefined ? undefined : argumentsText(given);
  if (madeFrom === undefined || args === undefined) return undefined;
  return results.place(madeFrom, accountId, `${name} ${args}`);
}

/** Short, flat arguments as text; undefined for long or nested ones. */
function argumentsText(given: unknown): string | undefined {
  if (given === undefined || given === null) return '{}';
  if (typeof given !== 'object' || Array.isArray(given)) return undefined;
  let chars = 0;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'object' && value !== null) return undefined;
    chars += name.length + String(value).length;
    if (chars > limits.questionCharsMax) return undefined;
  }
  return JSON.stringify(given);
}
