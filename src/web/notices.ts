/**
 * Owns what one page leaves for the next: a sentence, or a secret that is shown once. It is kept in memory for the browser
 * it is meant for, is gone when it was shown, and gone unseen after two minutes or a restart.
 */
import { limits } from '../limits/service.ts';

export interface ShownSecret {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  /** An MCP key, which the setup guide fills in. */
  readonly isMcpKey?: boolean;
}

/** What a notice offers to take back. */
interface Undo {
  readonly label: string;
  /** A form of ours, and what it sends. */
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

  /** Leaves a notice for the next page of this browser; it takes the place of one that was not seen. */
  leave(browserId: string, notice: Notice): void {
    const nowMs = this.#now();
    // Oldest first, so that what is over stands in front.
    for (const [id, { untilMs }] of this.#waiting) {
      if (untilMs > nowMs && this.#waiting.size < limits.noticesMax) break;
      this.#waiting.delete(id);
    }
    this.#waiting.delete(browserId);
    this.#waiting.set(browserId, { notice, untilMs: nowMs + limits.noticeSeconds * 1000 });
  }

  /** The MCP key that the next page of this browser shows; undefined: none. */
  freshKey(browserId: string): string | undefined {
    const found = this.#waiting.get(browserId);
    if (found === undefined || found.untilMs <= this.#now()) return undefined;
    return found.notice.secrets?.find(({ isMcpKey }) => isMcpKey === true)?.value;
  }

  /** Takes the notice of this browser, once. */
  take(browserId: string): Notice | undefined {
    const found = this.#waiting.get(browserId);
    this.#waiting.delete(browserId);
    return found !== undefined && found.untilMs > this.#now() ? found.notice : undefined;
  }
}
