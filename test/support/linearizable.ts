/** Whether what clients saw of one register could have happened one operation after another (Wing and Gong, 1993). */

export interface RegisterOperation {
  readonly kind: 'read' | 'write';
  readonly value: string;
  /** When the client sent it, and when it had the answer; `Infinity`: it never learned whether the write happened. */
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Searches for an order in which each operation takes effect between its start and its end, and each read gives the
 * value of the write before it. A write without an answer may happen at any time after its start, or never.
 */
export function isLinearizable(operations: readonly RegisterOperation[], initial: string): boolean {
  // A write without an answer whose value nobody read changes nothing: leaving it out keeps the search small.
  const seen = new Set(operations.filter(({ kind }) => kind === 'read').map(({ value }) => value));
  const ordered = operations
    .filter(({ endMs, value }) => endMs !== Number.POSITIVE_INFINITY || seen.has(value))
    .toSorted((one, other) => one.startMs - other.startMs);
  const tried = new Set<string>();
  const stack: { readonly done: bigint; readonly value: string }[] = [{ done: 0n, value: initial }];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    const { done, value } = state;
    const left = ordered.flatMap((operation, index) => ((done >> BigInt(index)) & 1n ? [] : [{ operation, index }]));
    if (left.every(({ operation }) => operation.endMs === Number.POSITIVE_INFINITY)) return true;
    const firstEndMs = Math.min(...left.map(({ operation }) => operation.endMs));
    const possible = left.filter(({ operation }) => operation.startMs <= firstEndMs);
    // What ended first is tried first, so it goes onto the stack last.
    for (const { operation, index } of possible.toSorted((one, other) => other.operation.endMs - one.operation.endMs)) {
      if (operation.kind === 'read' && operation.value !== value) continue;
      const next = { done: done | (1n << BigInt(index)), value: operation.kind === 'read' ? value : operation.value };
      const name = `${next.done.toString(36)} ${next.value}`;
      if (tried.has(name)) continue;
      tried.add(name);
      stack.push(next);
    }
  }
  return false;
}
