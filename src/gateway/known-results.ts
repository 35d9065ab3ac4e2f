/** Owns which calls of tools have results that are given again, and what they are known by. */
import { type AnswerPlace, KnownAnswers, type KnownAnswersOptions } from '../cache/answers.ts';
import { limits } from '../limits/service.ts';
import type { Tool } from './tool.ts';

/** A result as it travels: JSON, as text or as UTF-8. */
export interface WrittenResult<Text extends string | Uint8Array = string | Uint8Array> {
  /** The members `content` and `structuredContent`, in this order and without the braces around them. */
  readonly members: Text;
  /** The structured result alone, which is the end of the members. */
  readonly structured: Text;
}

/** Kept as UTF-8, so that it is encoded once. */
export type KnownResults = KnownAnswers<WrittenResult<Uint8Array>>;

/** A result in the form in which it is kept. */
export function encoded({ members, structured }: WrittenResult<string>): WrittenResult<Uint8Array> {
  const bytes = Buffer.from(members);
  return { members: bytes, structured: bytes.subarray(bytes.length - Buffer.byteLength(structured)) };
}

export function openKnownResults(
  over: Pick<KnownAnswersOptions<WrittenResult<Uint8Array>>, 'revision' | 'now'>,
): KnownResults {
  const bytesOf = ({ members }: WrittenResult<Uint8Array>) => members.length;
  return new KnownAnswers({ ...over, bytesOf, bytesMax: limits.resultsRememberedBytesMax });
}

/** The place of a call of a tool; undefined: it is answered anew each time. */
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

/** Short, flat arguments as text; undefined: others. */
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
