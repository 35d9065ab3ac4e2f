/** Reports the progress of long work to the caller at intervals, so that the connection does not time out. */
import { limits } from '../limits/service.ts';
import type { ControlProgress } from './protocol.ts';

export class ToldProgress {
  readonly #tell: (line: string) => void;
  #latest: ControlProgress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Records the progress of the work. */
  readonly note = (done: number, total: number): void => {
    this.#latest = { done, total };
    this.#timer ??= setInterval(() => this.#tell(JSON.stringify(this.#latest)), limits.archiveProgressMs);
  };

  close(): void {
    clearInterval(this.#timer);
  }
}
