/** Opens streams of change notifications: `subscriptions/listen` (2026-07-28), and GET with a session before that. */
import { invalidField } from '../../common/fault.ts';
import type { Caller } from '../../common/shares.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Linger } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { EventFeed } from '../../live/event-feed.ts';
import { Listeners, type ListeningClient, type Wish } from './listeners.ts';
import { Subscriptions } from './subscriptions.ts';
import { type Subscription, Watched, type WatchedOptions } from './watched.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** The client of a stream. */
export interface Hearer {
  readonly caller: Caller & { readonly accountId: string };
  readonly linger: Linger;
  /** Resolves with false when the credential of the request is no longer valid. */
  readonly isStillIn: () => Promise<boolean>;
}

interface Stream {
  readonly hearer: Hearer;
  readonly wish: Wish;
  /** JSON members at the beginning of each notification's parameters. */
  readonly meta: string;
  /** JSON of the first and the last message. */
  readonly first?: string;
  readonly last?: string;
}

export class Listening {
  readonly subscriptions: Subscriptions;
  readonly #watched: Watched;
  readonly #listeners: Listeners;

  constructor(options: WatchedOptions) {
    this.#watched = new Watched(options);
    this.#listeners = new Listeners(this.#watched);
    this.subscriptions = new Subscriptions(this.#watched);
  }

  /** Number of listening clients. */
  get count(): number {
    return this.#listeners.count;
  }

  /** Ends all streams, and every stream opened later. */
  close(): void {
    this.#listeners.close();
  }

  /** Opens the stream of a session: all lists, and its subscriptions. Ends an earlier stream of the session. */
  openSession(hearer: Hearer, sessionId: string): Reply {
    const entry = this.subscriptions.of(hearer.caller.accountId, sessionId);
    entry.endStream?.();
    const wish = { resources: true, prompts: true, watched: entry.watched };
    const { reply, end } = this.#open({ hearer, wish, meta: '' });
    entry.endStream = end;
    return reply;
  }

  /**
   * Opens the stream of `subscriptions/listen`. `id`: JSON of the request's id, which becomes the subscription id.
   * Throws Refusal `invalid_fields`, or `overloaded` when there are too many listeners.
   */
  async listen(hearer: Hearer, id: string, asked: unknown): Promise<Reply> {
    if (typeof asked !== 'object' || asked === null) {
      throw invalidField('notifications', 'notifications must be an object that names what to listen for');
    }
    const {
      resourcesListChanged,
      promptsListChanged,
      resourceSubscriptions: uris = [],
    } = asked as Record<string, unknown>;
    if (!Array.isArray(uris) || uris.length > limits.subscriptionsMax) {
      const most = `notifications.resourceSubscriptions must be a list of at most ${limits.subscriptionsMax} URIs`;
      throw invalidField('notifications', most);
    }
    const watched = new Map<string, Subscription>();
    for (const uri of uris) {
      const resource = this.#watched.find(uri);
      if (resource !== undefined) {
        watched.set(resource.uri, await this.#watched.begin(hearer.caller.accountId, resource));
      }
    }
    const wish = { resources: resourcesListChanged === true, prompts: promptsListChanged === true, watched };
    const meta = `"_meta":{"${SUBSCRIPTION_ID}":${id}}`;
    const first = notification('notifications/subscriptions/acknowledged', meta, { notifications: honoured(wish) });
    const last = `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete",${meta}}}`;
    return this.#open({ hearer, wish, meta, first, last }).reply;
  }

  #open({ hearer, wish, meta, first, last }: Stream): { readonly reply: Reply; readonly end: () => void } {
    let listening: ListeningClient | undefined;
    const send = (message: string) => events.send({ event: 'message', data: message });
    const end = () => {
      clearTimeout(timer);
      listening?.end();
      events.end();
    };
    const endWell = () => {
      if (last !== undefined) send(last);
      end();
    };
    const onBeat = async () => {
      listening?.checkDay();
      if (!(await hearer.isStillIn())) end();
    };
    const events = new EventFeed({ beatMs: limits.eventBeatMs, onBeat });
    const timer = setTimeout(endWell, limits.listenSecondsMax * 1000);
    timer.unref();
    if (first !== undefined) send(first);
    try {
      listening = this.#listeners.add({
        caller: hearer.caller,
        wish,
        notify: (method, params) => {
          if (!send(notification(method, meta, params))) end();
        },
        onEnd: endWell,
      });
    } catch (error) {
      end();
      throw error;
    }
    hearer.linger(limits.listenSecondsMax + limits.handlerSecondsDefault, end);
    return { reply: { ...events.reply, listens: true }, end };
  }
}

/** The accepted part of a wish. Tools are never included: they do not change while a hub runs. */
function honoured({ resources, prompts, watched }: Wish) {
  return {
    ...(resources ? { resourcesListChanged: true } : {}),
    ...(prompts ? { promptsListChanged: true } : {}),
    ...(watched.size > 0 ? { resourceSubscriptions: [...watched.keys()] } : {}),
  };
}

/** JSON of a notification. `meta`: JSON members, or an empty string. */
function notification(method: string, meta: string, params: Readonly<Record<string, unknown>>): string {
  const members = [meta, JSON.stringify(params).slice(1, -1)].filter((part) => part !== '').join(',');
  return `{"jsonrpc":"2.0","method":"${method}"${members === '' ? '' : `,"params":{${members}}`}}`;
}
