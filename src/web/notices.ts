/**
 * Stores what one page leaves for the next: a sentence, or a secret shown once. A notice is kept in memory for one
 * browser. It is deleted after being shown, after two minutes, or by a restart.
 */
import { limits } from '../limits/service.ts';

export interface ShownSecret {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  /** Name of the file that it can be saved as, and it can be printed; absent: it is only copied. */
  readonly file?: string;
  /** An MCP key, which is filled into the setup guide. */
  readonly isMcpKey?: boolean;
}

interface Undo {
  readonly label: string;
  /** Path of one of our forms, and the fields it sends. */
  readonly action: string;
  readonly fields?: Readonly<Record<string, string>>;
}

export interface Notice {
  readonly text: string;
  readonly tone?: 'good' | 'bad';
  readonly secrets?: readonly ShownSecret[];
  readonly undo?: Undo;
}

export class Notices {
  readonly #waiting = new Map<string, { readonly notice: Notice; readonly untilMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Leaves a notice for the next page of this browser, replacing an unseen one. */
  leave(browserId: string, notice: Notice): void {
    const nowMs = this.#now();
    // Oldest first, so expired ones are at the front.
    for (const [id, { untilMs }] of this.#waiting) {
      if (untilMs > nowMs && this.#waiting.size < limits.noticesMax) break;
      this.#waiting.delete(id);
    }
    this.#waiting.delete(browserId);
    this.#waiting.set(browserId, { notice, untilMs: nowMs + limits.noticeSeconds * 1000 });
  }

  /** The MCP key to be shown on the next page of this browser; undefined: none. */
  freshKey(browserId: string): string | undefined {
    const found = this.#waiting.get(browserId);
    if (found === undefined || found.untilMs <= this.#now()) return undefined;
    return found.notice.secrets?.find(({ isMcpKey }) => isMcpKey === true)?.value;
  }

  /** Returns and removes the notice of this browser. */
  take(browserId: string): Notice | undefined {
    const found = this.#waiting.get(browserId);
    this.#waiting.delete(browserId);
    return found !== undefined && found.untilMs > this.#now() ? found.notice : undefined;
  }
}
