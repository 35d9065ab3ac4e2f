/**
 * Owns the answers that are given again while nothing they were made from has changed: agents and apps ask for the same list
 * far more often than it changes. An answer belongs to its key (who asks for what) and to a revision of the owner's rows that it is
 * made from, so it is given exactly as long as the same one would be made anew.
 */
import { limits } from '../limits/service.ts';
import type { AnyTable } from '../store/table.ts';
import { Remembered } from './lru.ts';
import { Recent } from './recent.ts';

interface Known<V> {
  readonly answer: V;
  /** The span of the clock in which it holds. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Where one answer stands; made before anything is read, so that what changes meanwhile is noticed. */
export interface AnswerPlace {
  readonly key: string;
  readonly tables: readonly AnyTable[];
  readonly owner: string;
  readonly revision: number;
  readonly askedMs: number;
}

export interface KnownAnswersOptions<V> {
  /** Undefined: a write is under way. */
  readonly revision: (tables: readonly AnyTable[], owner: string) => number | undefined;
  readonly now: () => number;
  /** What an answer takes. */
  readonly bytesOf: (answer: V) => number;
  /** What all of them may take. */
  readonly bytesMax: number;
}

export class KnownAnswers<V> {
  readonly #options: KnownAnswersOptions<V>;
  readonly #known: Remembered<Known<V>>;
  readonly #asked = new Recent<true>(limits.answersAskedMax);

  constructor(options: KnownAnswersOptions<V>) {
    this.#options = options;
    this.#known = new Remembered(options.bytesMax);
  }

  /** The place of an owner's question, about own rows of these tables alone; undefined: it is answered anew. */
  place(tables: readonly AnyTable[], owner: string, question: string): AnswerPlace | undefined {
    const revision = this.#options.revision(tables, owner);
    if (revision === undefined) return undefined;
    return { key: `${owner} ${question}`, tables, owner, revision, askedMs: this.#options.now() };
  }

  find({ key, revision, askedMs }: AnswerPlace): V | undefined {
    const known = this.#known.get(key, revision);
    return known !== undefined && askedMs >= known.fromMs && askedMs < known.untilMs ? known.answer : undefined;
  }

  /**
   * Takes note of an answer that is asked for again, unless something changed while it was made. `formed` gives it in the form
   * in which it is kept.
   */
  keep(
    { key, tables, owner, revision, askedMs }: AnswerPlace,
    formed: () => V,
    sameUntilMs = Number.POSITIVE_INFINITY,
  ): void {
    // What is asked for once would push out what is asked for again, and only be work for the garbage collector.
    if (this.#asked.get(key) === undefined) {
      this.#asked.set(key, true, 1);
      return;
    }
    if (this.#options.revision(tables, owner) !== revision) return;
    const answer = formed();
    const bytes = this.#options.bytesOf(answer);
    if (bytes > limits.answerRememberedBytesMax) return;
    this.#known.set(key, revision, { answer, fromMs: askedMs, untilMs: sameUntilMs }, bytes + key.length);
  }
}
