/**
 * Writes down what was asked of a hub and what was answered, thing by thing, so that whatever is found later can be held
 * against it: what was acknowledged must be there, what was not may be there whole or not at all.
 */

/** One write of one thing. */
export interface Write {
  readonly id: string;
  /** What the thing is behind it; null: gone. */
  readonly value: string | null;
  isAcknowledged: boolean;
}

export class Ledger {
  readonly #things = new Map<string, Write[]>();
  #acknowledged = 0;
  #asked = 0;

  /** Must be called before the request leaves. Writes of one thing follow each other, each after the answer to the last. */
  ask(thing: string, value: string | null): Write {
    this.#asked += 1;
    const write: Write = { id: `w-${this.#asked}`, value, isAcknowledged: false };
    const writes = this.#things.get(thing);
    if (writes === undefined) this.#things.set(thing, [write]);
    else writes.push(write);
    return write;
  }

  acknowledge(write: Write): void {
    write.isAcknowledged = true;
    this.#acknowledged += 1;
  }

  /** It was refused, and must have done nothing. */
  takeBack(thing: string, write: Write): void {
    const writes = this.#things.get(thing);
    if (writes?.at(-1) === write) writes.pop();
  }

  get counts(): { readonly asked: number; readonly acknowledged: number } {
    return { asked: this.#asked, acknowledged: this.#acknowledged };
  }

  /** The last acknowledged value of a thing; undefined when it never had one. */
  valueOf(thing: string): string | null | undefined {
    return this.#things.get(thing)?.findLast(({ isAcknowledged }) => isAcknowledged)?.value;
  }

  /** Every write that counts as acknowledged. */
  acknowledged(isAcknowledged = (write: Write): boolean => write.isAcknowledged): Write[] {
    return [...this.#things.values()].flatMap((writes) => writes.filter(isAcknowledged));
  }

  /**
   * Holds what was found, each thing with its value, against what was written.
   * @param isAcknowledged what counts as acknowledged, when that is another moment than now
   */
  problems(
    found: ReadonlyMap<string, string>,
    isAcknowledged = (write: Write): boolean => write.isAcknowledged,
  ): string[] {
    const problems: string[] = [];
    for (const [thing, writes] of this.#things) {
      const last = writes.findLastIndex(isAcknowledged);
      const allowed = writes.slice(Math.max(0, last)).map(({ value }) => value);
      if (last < 0) allowed.unshift(null);
      const value = found.get(thing) ?? null;
      if (allowed.includes(value)) continue;
      const expected =
        last < 0 ? 'nothing was acknowledged' : `acknowledged was ${writes[last]?.value ?? 'that it is gone'}`;
      problems.push(`${thing} is ${value ?? 'gone'}, though ${expected} (${writes.length} writes)`);
    }
    for (const thing of found.keys()) {
      if (!this.#things.has(thing)) problems.push(`${thing} is there, and nobody wrote it`);
    }
    return problems;
  }
}
