/**
 * Caches answers until the rows they were made from change: agents and apps request the same list far more often than
 * it changes. An answer is stored by its key (who requests what) and by a revision of the owner's rows that it was made
 * from. So a cached answer is returned exactly as long as a new one would be equal.
 */
import { limits } from '../limits/service.ts';
import type { AnyTable } from '../store/table.ts';
import { Remembered } from './lru.ts';
import { Recent } from './recent.ts';

interface Known<V> {
  readonly answer: V;
  /** Time span in which the answer is valid. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Key and revision of an answer. Created before anything is read, so that concurrent changes are noticed. */
export interface AnswerPlace {
  readonly key: string;
  readonly tables: readonly AnyTable[];
  readonly owner: string;
  readonly revision: number;
  readonly askedMs: number;
}

export interface KnownAnswersOptions<V> {
  /** Returns the current revision, or undefined while a write is in flight. */
  readonly revision: (tables: readonly AnyTable[], owner: string) => number | undefined;
  readonly now: () => number;
  readonly bytesOf: (answer: V) => number;
  /** Maximum size of all answers in bytes. */
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

  /**
   * Returns the place of an answer that depends only on the owner's rows in these tables. Undefined: the cache cannot
   * be used.
   */
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
   * Caches an answer when it is requested for the second time, unless something changed while it was made. `formed`
   * returns the answer in its cached form.
   */
  keep(
    { key, tables, owner, revision, askedMs }: AnswerPlace,
    formed: () => V,
    sameUntilMs = Number.POSITIVE_INFINITY,
  ): void {
    // An answer requested only once would evict others that are requested again, and burden the garbage collector.
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
