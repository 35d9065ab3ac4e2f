/** Tells whoever asked for long work how far it is, now and then, so that the connection is never taken for dead. */
import { limits } from '../limits/service.ts';
import type { ControlProgress } from './protocol.ts';

export class ToldProgress {
  readonly #tell: (line: string) => void;
  #latest: ControlProgress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Notes where the work stands. */
  readonly note = (done: number, total: number): void => {
    this.#latest = { done, total };
    this.#timer ??= setInterval(() => this.#tell(JSON.stringify(this.#latest)), limits.archiveProgressMs);
  };

  close(): void {
    clearInterval(this.#timer);
  }
}
