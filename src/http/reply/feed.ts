/** Owns bodies that become ready one after another: each is sent when it is there, and nobody knows before how long all are. */
import type { ByteSource, Parts } from './body.ts';

export interface Feed {
  /** The next one, when it is ready; undefined: that was all. */
  next(): Promise<Parts | ByteSource | undefined>;
}

/** A feed of what promises give, in the order in which they are settled; one that gives undefined adds nothing. */
export function feedOf(promises: readonly Promise<Parts | ByteSource | undefined>[]): Feed {
  // Each promise that settles takes the next free place.
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

/** Lets go of what a feed would still have given, as it becomes ready. */
export async function closeFeed(feed: Feed): Promise<void> {
  for (let body = await feed.next(); body !== undefined; body = await feed.next()) closeBody(body);
}

/** Nobody reads this body. */
export function closeBody(body: Parts | ByteSource): void {
  if ('bytesTotal' in body) body.close?.();
}
