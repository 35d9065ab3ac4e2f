/**
 * Owns the answers of reading tools that are given again while nothing they were made from has changed: agents ask for the
 * same list far more often than it changes. An answer belongs to an account, a tool, its arguments and a revision of the
 * tool's tables, so it is given exactly as long as the tool itself would make the same one.
 */
import { limits } from '../limits.ts';
import { Remembered } from '../remembered.ts';
import type { AnyTable } from '../store/table.ts';
import type { Tool } from './tool.ts';

/** A result as it travels: JSON as UTF-8, so that it is encoded once. */
export interface WrittenResult {
  /** The members `content` and `structuredContent`, in this order and without the braces around them. */
  readonly members: Uint8Array;
  /** The structured result alone, which is the end of the members. */
  readonly structured: Uint8Array;
}

interface Known {
  readonly result: WrittenResult;
  /** The span of the clock in which it holds. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Where one answer stands; made before the tool reads, so that what changes meanwhile is noticed. */
export interface AnswerPlace {
  readonly key: string;
  readonly tables: readonly AnyTable[];
  readonly revision: number;
  readonly askedMs: number;
}

export interface KnownAnswersOptions {
  readonly revision: (tables: readonly AnyTable[]) => number | undefined;
  readonly now: () => number;
}

export class KnownAnswers {
  readonly #options: KnownAnswersOptions;
  readonly #known = new Remembered<Known>(limits.answersRememberedBytesMax);

  readonly #asked = new Remembered<true>(limits.answersAskedMax);

  constructor(options: KnownAnswersOptions) {
    this.#options = options;
  }

  /** The place of a call; undefined: it is answered anew each time. */
  place({ name, madeFrom: tables }: Tool, accountId: string, given: unknown): AnswerPlace | undefined {
    if (tables === undefined) return undefined;
    const revision = this.#options.revision(tables);
    const args = revision === undefined ? undefined : argumentsText(given);
    if (revision === undefined || args === undefined) return undefined;
    return { key: `${accountId} ${name} ${args}`, tables, revision, askedMs: this.#options.now() };
  }

  find({ key, revision, askedMs }: AnswerPlace): WrittenResult | undefined {
    const known = this.#known.get(key, revision);
    return known !== undefined && askedMs >= known.fromMs && askedMs < known.untilMs ? known.result : undefined;
  }

  /** Takes note of an answer that is asked for again, unless something changed while it was made. */
  keep({ key, tables, revision, askedMs }: AnswerPlace, result: WrittenResult, sameUntilMs: number | undefined): void {
    // What is asked for once would push out what is asked for again, and only be work for the garbage collector.
    if (this.#asked.get(key, 0) === undefined) {
      this.#asked.set(key, 0, true, 1);
      return;
    }
    const bytes = result.members.length;
    if (bytes > limits.answerRememberedBytesMax || this.#options.revision(tables) !== revision) return;
    const known = { result, fromMs: askedMs, untilMs: sameUntilMs ?? Number.POSITIVE_INFINITY };
    this.#known.set(key, revision, known, bytes + key.length);
  }
}

/** Short, flat arguments as text; undefined: others. */
function argumentsText(given: unknown): string | undefined {
  if (given === undefined || given === null) return '{}';
  if (typeof given !== 'object' || Array.isArray(given)) return undefined;
  let chars = 0;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'object' && value !== null) return undefined;
    chars += name.length + String(value).length;
    if (chars > limits.answerArgumentsCharsMax) return undefined;
  }
  return JSON.stringify(given);
}
