/** Owns what is known of damaged contents: each finding goes to the log as an error and is counted, each mending too. */
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';

/** What a content is of: a blob of the mirror, a version of a file, a pack of lines made of versions, or what a refused push brought. */
export type DamagedKind = 'blob' | 'version' | 'pack' | 'conflict';

export class Damage {
  readonly #log: Log;
  readonly #found: Record<DamagedKind, number> = { blob: 0, version: 0, pack: 0, conflict: 0 };
  readonly #onFound: (kind: DamagedKind) => void;
  #healed = 0;

  /** `onFound`: hears of each finding, where another thread counts them. */
  constructor(log: Log, onFound: (kind: DamagedKind) => void = () => undefined) {
    this.#log = log;
    this.#onFound = onFound;
  }

  /** Times that damage was met since the start, by kind; the same content counts each time. */
  get found(): Readonly<Record<DamagedKind, number>> {
    return this.#found;
  }

  /** Contents that were replaced by good bytes since the start. */
  get healed(): number {
    return this.#healed;
  }

  /** Counts a finding of another thread. */
  count(kind: DamagedKind): void {
    this.#found[kind] += 1;
  }

  /** Notes a content that does not hash right. Returns the refusal for whoever asked for it. */
  note(kind: DamagedKind, where: Readonly<Record<string, unknown>>): Refusal {
    this.count(kind);
    this.#onFound(kind);
    this.#log.error({ damaged: kind, ...where }, 'stored bytes do not hash right; run cairn verify');
    return new Refusal({ kind: 'damaged' });
  }

  /** Notes that good bytes took the place of damaged ones. */
  noteHealed(kind: DamagedKind, where: Readonly<Record<string, unknown>>): void {
    this.#healed += 1;
    this.#log.warn({ healed: kind, ...where }, 'damaged bytes were replaced by good ones');
  }
}
