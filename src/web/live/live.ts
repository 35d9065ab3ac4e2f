/** Opens the event streams of all open pages, limited per account, and ends them when the service stops. */
import { Refusal } from '../../common/fault.ts';
import { empty, feed, type Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { Pages } from '../pages.ts';
import { isMember, type MemberVisit } from '../visit.ts';
import { LiveChanges } from './changes.ts';
import { LiveStream } from './stream.ts';
import { watchTables } from './watched.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Disables buffering in nginx, which would delay events.
  'X-Accel-Buffering': 'no',
};

export class LivePages {
  readonly #changes = new LiveChanges();
  readonly #streams = new Set<LiveStream>();
  readonly #beats: NodeJS.Timeout;
  #isClosed = false;

  constructor(store: Pick<Store, 'watch' | 'get'>) {
    watchTables(store, this.#changes);
    this.#beats = setInterval(() => {
      for (const stream of this.#streams) stream.beat();
    }, limits.liveBeatMs);
    this.#beats.unref();
  }

  /** Identifies the state of an account, for a page that shows it. */
  markOf(accountId: string): string {
    return this.#changes.markOf(accountId);
  }

  /** The route of the streams. `mayRead`: whether a browser may still see its account. */
  route(pages: Pages, mayRead: (visit: MemberVisit) => boolean): Route {
    return pages.open('/live', (visit) => {
      const isFull = isMember(visit) && this.#changes.listenersOf(visit.accountId) >= limits.livePagesPerAccountMax;
      // 204 stops a browser from reconnecting (HTML standard, 9.2.3); the page works without live updates.
      if (!isMember(visit) || visit.request.isHead || isFull) return empty(204, { 'Cache-Control': 'no-store' });
      return this.#open(visit, () => mayRead(visit));
    });
  }

  /** Ends every stream and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#beats);
    for (const stream of Array.from(this.#streams)) stream.end();
  }

  #open({ accountId, request, liveMark }: MemberVisit, mayRead: () => boolean): Reply {
    if (this.#isClosed) throw new Refusal({ kind: 'draining' });
    const known = request.header('last-event-id') ?? request.query.get('mark');
    const stream: LiveStream = new LiveStream(
      {
        mark: () => this.#changes.markOf(accountId),
        mayRead,
        onEnd: () => {
          this.#streams.delete(stream);
          stop();
        },
      },
      known !== liveMark,
    );
    const stop = this.#changes.listen(accountId, stream);
    this.#streams.add(stream);
    request.linger(limits.liveSeconds, () => stream.end());
    return feed(200, stream, HEADERS);
  }
}
