/** Stores sign-ins after the correct password, until the second factor is entered. In memory, with a limited number. */
import { limits } from '../../limits/service.ts';

export interface PendingSignIn {
  readonly accountId: string;
  /** Of the password that was entered. */
  readonly passwordHash: string;
  readonly email: string;
  /** Path to redirect to afterwards. */
  readonly next: string;
}

export class PendingSignIns {
  readonly #waiting = new Map<string, { readonly pending: PendingSignIn; readonly untilMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  put(browserId: string, pending: PendingSignIn): void {
    const nowMs = this.#now();
    // Oldest first, so expired ones are at the front.
    for (const [id, { untilMs }] of this.#waiting) {
      if (untilMs > nowMs && this.#waiting.size < limits.pendingSignInsMax) break;
      this.#waiting.delete(id);
    }
    this.#waiting.delete(browserId);
    this.#waiting.set(browserId, { pending, untilMs: nowMs + limits.pendingSignInMs });
  }

  find(browserId: string): PendingSignIn | undefined {
    const found = this.#waiting.get(browserId);
    return found !== undefined && found.untilMs > this.#now() ? found.pending : undefined;
  }

  end(browserId: string): void {
    this.#waiting.delete(browserId);
  }
}
