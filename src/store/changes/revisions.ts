/**
 * Owns the revisions of tables: a number that changes with every commit that wrote to one. What was read of some tables is
 * still exactly what is there as long as their revision is the same.
 */
import type { AnyTable } from '../table.ts';

export class Revisions {
  readonly #counts = new Map<string, number>();
  /** Commits under way, by table. */
  readonly #underWay = new Map<string, number>();

  /**
   * The revision of some tables together. Undefined while a commit that wrote to one of them is under way: it becomes
   * visible at a moment that this thread is not told, so that nothing can be said until it is over.
   */
  of(tables: readonly AnyTable[]): number | undefined {
    let sum = 0;
    for (const { name } of tables) {
      if (this.#underWay.has(name)) return undefined;
      sum += this.#counts.get(name) ?? 0;
    }
    return sum;
  }

  /** Must be called before what was written to these tables can be seen. Returns what to call when that is settled. */
  begin(names: ReadonlySet<string>): () => void {
    for (const name of names) this.#underWay.set(name, (this.#underWay.get(name) ?? 0) + 1);
    return () => {
      for (const name of names) {
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
        const left = (this.#underWay.get(name) ?? 1) - 1;
        if (left === 0) this.#underWay.delete(name);
        else this.#underWay.set(name, left);
      }
    };
  }
}
