/** Streams bodies that become ready one after another, each sent when ready; the total length is unknown. */
import type { ByteSource, Parts } from './body.ts';

export interface Feed {
  /** Resolves with the next body when it is ready, or with undefined at the end. */
  next(): Promise<Parts | ByteSource | undefined>;
}

/** A feed of the results of promises, in the order in which they settle; undefined results are skipped. */
export function feedOf(promises: readonly Promise<Parts | ByteSource | undefined>[]): Feed {
  // Each settled promise takes the next free place.
  const places: ((settled: Promise<Parts | ByteSource | undefined>) => void)[] = [];
  const inOrder = promises.map(() => new Promise<Parts | ByteSource | undefined>((resolve) => places.push(resolve)));
  for (const promise of promises) {
    const take = () => places.shift()?.(promise);
    promise.then(take, take);
  }
  return {
    async next() {
      for (let place = inOrder.shift(); place !== undefined; place = inOrder.shift()) {
        const body = await place;
        if (body !== undefined) return body;
      }
      return undefined;
    },
  };
}

/** Releases the remaining bodies of a feed as they become ready. */
export async function closeFeed(feed: Feed): Promise<void> {
  for (let body = await feed.next(); body !== undefined; body = await feed.next()) closeBody(body);
}

/** Releases a body that will not be read. */
export function closeBody(body: Parts | ByteSource): void {
  if ('bytesTotal' in body) body.close?.();
}
