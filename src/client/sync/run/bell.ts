/** A bell that stays rung until it is silenced. */
export class Bell {
  #isRung = false;
  readonly #waiting = new Set<() => void>();

  /** True when it has rung since it was last silenced. */
  get isRung(): boolean {
    return this.#isRung;
  }

  ring(): void {
    this.#isRung = true;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  silence(): void {
    this.#isRung = false;
  }

  async rung(): Promise<void> {
    if (this.#isRung) return;
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
    });
  }
}
