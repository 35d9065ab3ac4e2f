/** Compares the counted usage of accounts with the stored data. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import { keyText } from '../store/row-sums.ts';
import { accountUsage, type CountedKind } from './usage.ts';

/** Sums the stored bytes by account. */
export class UsageTally {
  readonly #bytes = new Map<string, number>();

  add(accountId: string, kind: CountedKind, bytes: number): void {
    const name = `${accountId} ${kind}`;
    this.#bytes.set(name, (this.#bytes.get(name) ?? 0) + bytes);
  }

  /** Returns one sentence for each account with a wrong count. */
  compare(reader: CheckedReader): string[] {
    const problems: string[] = [];
    const left = new Map(this.#bytes);
    reader.each(accountUsage, ({ key, value }) => {
      const name = keyText(key);
      const there = left.get(name) ?? 0;
      if (there !== value.bytes) problems.push(`usage of ${name}: counted ${value.bytes} bytes, found ${there}`);
      left.delete(name);
    });
    for (const [name, there] of left) {
      if (there !== 0) problems.push(`usage of ${name}: not counted, found ${there} bytes`);
    }
    return problems;
  }
}
