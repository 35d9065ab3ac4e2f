/**
 * Tells open pages of changes in their account: one stream of events per page, limited per account, ended by a sign-out
 * and when the service stops.
 */
import { randomBytes } from 'node:crypto';
import { keys, sessionOwners } from '../accounts/records.ts';
import { standings } from '../accounts/standing/records.ts';
import { auditEvents } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import { devDocs } from '../documents/dev-docs/records.ts';
import { handoffs } from '../documents/handoffs/records.ts';
import { papers } from '../documents/papers/records.ts';
import { empty, type Reply } from '../http/reply/reply.ts';
import type { Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { Changes } from '../live/changes.ts';
import { EventFeed } from '../live/event-feed.ts';
import { blobs, credentials } from '../mirror/records.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { accountOfVault, vaultHeads, vaults } from '../sync/log/records.ts';
import { categories, tasks } from '../tasks/records.ts';
import type { Pages } from './pages.ts';
import { isMember, type LiveTopic, type MemberVisit } from './visit.ts';

const TABLES: Readonly<Record<LiveTopic, readonly AnyTable[]>> = {
  tasks: [tasks, categories],
  // Each change of a vault writes its head.
  vaults: [vaults, vaultHeads],
  documents: [devDocs, handoffs, papers],
  mirror: [blobs, credentials],
  account: [keys, auditEvents],
};
const topicOfTable: ReadonlyMap<AnyTable, LiveTopic> = new Map(
  Object.entries(TABLES).flatMap(([topic, tables]) => tables.map((table) => [table, topic as LiveTopic])),
);
/** Tables that determine whether a page may stay open. */
const ACCESS: readonly AnyTable[] = [sessionOwners, standings];
const OF_ACCOUNT = [...topicOfTable.keys()].filter((table) => table !== vaultHeads);

export class LivePages {
  /** Different after each start, so that pages made by an earlier process count as outdated. */
  readonly #epoch = randomBytes(6).toString('base64url');
  readonly #store: Pick<Store, 'watch' | 'get' | 'keys' | 'commitsTo'>;
  readonly #changes: Changes;
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor(store: Pick<Store, 'watch' | 'get' | 'keys' | 'commitsTo'>) {
    this.#store = store;
    this.#changes = new Changes(store, [...topicOfTable.keys(), ...ACCESS], accountOfVault(store));
  }

  /** Identifies the state of an account: equal marks mean that nothing has changed in between. */
  markOf(accountId: string): string {
    const store = this.#store;
    let ofVaults = 0;
    for (const [, vaultId] of store.keys(vaults, [accountId])) ofVaults += store.commitsTo([vaultHeads], vaultId);
    // Two numbers: a deleted vault lowers the second one, and raises the first.
    return `${this.#epoch}.${store.commitsTo(OF_ACCOUNT, accountId)}.${ofVaults}`;
  }

  /** The route of the streams. `mayRead`: whether a browser may still see its account. */
  route(pages: Pages, mayRead: (visit: MemberVisit) => boolean): Route {
    return pages.open('/live', (visit) => {
      const isFull = isMember(visit) && this.#changes.listenersOf(visit.accountId) >= limits.livePagesPerAccountMax;
      // 204 stops a browser from reconnecting (HTML standard, 9.2.3); the page works without live updates.
      if (!isMember(visit) || visit.request.isHead || isFull) return empty(204, { 'Cache-Control': 'no-store' });
      return this.#open(visit, () => unlessRefused(() => mayRead(visit)));
    });
  }

  /** Ends every stream and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const end of Array.from(this.#ends)) end();
  }

  #open({ accountId, request, liveMark }: MemberVisit, mayRead: () => boolean): Reply {
    if (this.#isClosed) throw new Refusal({ kind: 'draining' });
    const gathered = new Map<LiveTopic | 'all', number>();
    let gathering: NodeJS.Timeout | undefined;
    let isDue = (request.header('last-event-id') ?? request.query.get('mark')) !== liveMark;
    if (isDue) gathered.set('all', 1);
    const recheck = () => {
      if (mayRead()) return;
      events.send({ event: 'signed-out', data: '' });
      end();
    };
    const events = new EventFeed({
      beatMs: limits.liveBeatMs,
      onBeat: recheck,
      beat: retryLine,
      newest: () => {
        if (!isDue) return undefined;
        const data = JSON.stringify(Object.fromEntries(gathered));
        gathered.clear();
        isDue = false;
        return { event: 'change', data, id: this.markOf(accountId) };
      },
    });
    const stop = this.#changes.watch(accountId, ({ table, rows }) => {
      const topic = topicOfTable.get(table);
      if (topic === undefined) return recheck();
      gathered.set(topic, (gathered.get(topic) ?? 0) + rows);
      gathering ??= setTimeout(() => {
        gathering = undefined;
        isDue = true;
        events.refresh();
      }, limits.liveGatherMs);
    });
    const end = () => {
      stop();
      clearTimeout(gathering);
      this.#ends.delete(end);
      events.end();
    };
    this.#ends.add(end);
    events.beat();
    request.linger(limits.liveSeconds, end);
    return events.reply;
  }
}

/** False where the rows that tell cannot be read: no request brought the change, so none can be refused. */
function unlessRefused(mayRead: () => boolean): boolean {
  try {
    return mayRead();
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Sets the delay of a reconnection, at random: not all pages reconnect at once after a restart. */
function retryLine(): string {
  return `retry: ${limits.liveRetryMs + Math.floor(Math.random() * limits.liveRetrySpreadMs)}\n\n`;
}
