/**
 * Decides whether what clients saw of one register can have happened in some order in which each operation takes effect at a
 * moment between its call and its answer (linearizability: Herlihy and Wing, 1990; searched as by Wing and Gong, 1993, with the
 * memory of Lowe, 2017).
 */

export interface RegisterOperation {
  readonly kind: 'write' | 'read';
  /** What was written or seen. */
  readonly value: string;
  readonly calledMs: number;
  /** Infinite: nobody heard whether a write took effect. */
  readonly answeredMs: number;
}

/** Whether the operations agree with one register that begins with `first`. */
export function isLinearizable(operations: readonly RegisterOperation[], first: string): boolean {
  const failed = new Set<string>();
  const search = (done: bigint, value: string): boolean => {
    const left = operations.flatMap((operation, at) => ((done >> BigInt(at)) & 1n ? [] : [{ operation, at }]));
    // What nobody heard of may never take effect.
    if (left.every(({ operation }) => operation.answeredMs === Number.POSITIVE_INFINITY)) return true;
    const state = `${done} ${value}`;
    if (failed.has(state)) return false;
    const firstAnswer = Math.min(...left.map(({ operation }) => operation.answeredMs));
    for (const { operation, at } of left) {
      if (operation.calledMs > firstAnswer) continue;
      if (operation.kind === 'read' && operation.value !== value) continue;
      if (search(done | (1n << BigInt(at)), operation.kind === 'read' ? value : operation.value)) return true;
    }
    failed.add(state);
    return false;
  };
  return search(0n, first);
}
