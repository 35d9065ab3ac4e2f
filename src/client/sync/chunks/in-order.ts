/** Starts pieces of work ahead of the one whose result is taken. */

/**
 * The results in the order of the items; at most `atOnce` pieces of work go on at the same time. When one fails, or the
 * rest is not taken, the signal ends the others, which are waited for.
 */
export async function* inOrder<Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const ended = new AbortController();
  const started: Promise<Result>[] = [];
  try {
    for (const item of items) {
      const begun = work(item, ended.signal);
      // It may fail before its turn: then its turn tells.
      begun.catch(() => undefined);
      started.push(begun);
      const [next] = started;
      if (next === undefined || started.length < atOnce) continue;
      yield await next;
      void started.shift();
    }
    for (const next of started) yield await next;
  } finally {
    ended.abort();
    await Promise.allSettled(started);
  }
}
