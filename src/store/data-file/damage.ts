/** Counts and logs damaged contents (as errors) and repaired ones (as warnings). */
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';

/** What is damaged: a mirror blob, a file version, a pack of versions' lines, the content of a rejected push, or a row. */
export type DamagedKind = 'blob' | 'version' | 'pack' | 'conflict' | 'row';

export class Damage {
  readonly #log: Log;
  readonly #found: Record<DamagedKind, number> = { blob: 0, version: 0, pack: 0, conflict: 0, row: 0 };
  #healed = 0;
  #lastFoundMs: number | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Times damage was found since the start, by kind; the same content counts each time. */
  get found(): Readonly<Record<DamagedKind, number>> {
    return this.#found;
  }

  /** When damage was last found, in milliseconds since 1970; undefined: not since the start. */
  get lastFoundMs(): number | undefined {
    return this.#lastFoundMs;
  }

  /** Number of contents repaired since the start. */
  get healed(): number {
    return this.#healed;
  }

  /** Logs and counts a content whose hash does not match. Returns the Refusal `damaged` for its reader. */
  note(kind: DamagedKind, where: Readonly<Record<string, unknown>>): Refusal {
    this.#found[kind] += 1;
    this.#lastFoundMs = Date.now();
    this.#log.error({ damaged: kind, ...where }, 'stored bytes do not match their hash; run `cairn verify`');
    return new Refusal({ kind: 'damaged' });
  }

  /** Logs and counts a damaged content replaced by good bytes. */
  noteHealed(kind: DamagedKind, where: Readonly<Record<string, unknown>>): void {
    this.#healed += 1;
    this.#log.warn({ healed: kind, ...where }, 'damaged bytes were replaced by intact ones');
  }
}
