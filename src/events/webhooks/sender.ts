/**
 * Sends the events of accounts to their webhooks: each webhook in order, one message at a time, again with growing pauses
 * until it is taken. The position of a webhook moves in a commit after the answer, so that an event may be sent twice and
 * is never left out.
 */
import { setImmediate } from 'node:timers/promises';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import { FairPlaces } from '../../common/fair/fair-places.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import { isThere } from '../../store/intact.ts';
import type { Store } from '../../store/store.ts';
import type { AccountEvents } from '../account-events.ts';
import type { EventPosition } from '../position.ts';
import { FORGOTTEN_KINDS, type Missed, messageOf, missedMessage, type PostedMessage } from './message.ts';
import { afterTry, type PostOutcome, signatures, waitMs } from './plan.ts';
import { post, type WebhookReach } from './post.ts';
import { webhooks } from './records.ts';
import { shownAddress, type Webhook, type Webhooks } from './service.ts';

export interface WebhookSenderOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly events: AccountEvents;
  readonly webhooks: Webhooks;
  /** Undefined: nothing is sent. */
  readonly reach: WebhookReach | undefined;
  /** True for an account that may act. */
  readonly isOpen: (accountId: string) => boolean;
  /** Tells the person that a webhook was disabled. */
  readonly tell: (accountId: string, about: { readonly url: string; readonly reason: string }) => void;
  readonly log: Log;
  readonly now: () => number;
}

/** Counts since the start. */
export interface WebhookFigures {
  readonly delivered: number;
  readonly failed: number;
  readonly disabled: number;
}

/** The work of one webhook. */
interface Line {
  isRunning: boolean;
  /** Something happened since the line looked last. */
  isDue: boolean;
  timer: NodeJS.Timeout | undefined;
  readonly stop: () => void;
}

const BY_HUB = { by: 'client', address: null, agent: 'cairn' } as const;

export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #lines = new Map<string, Line>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #places = new FairPlaces(limits.webhooksAtOnceMax);
  #delivered = 0;
  #failed = 0;
  #disabled = 0;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    options.webhooks.onChange((accountId, id) => this.#wake(accountId, id));
  }

  get figures(): WebhookFigures {
    return { delivered: this.#delivered, failed: this.#failed, disabled: this.#disabled };
  }

  /** Begins with all webhooks of all accounts. */
  start(): void {
    for (const [accountId, id] of Array.from(this.#options.store.keys(webhooks))) this.#wake(accountId, id);
  }

  /** Cuts off what is being sent: the next start sends it again. Resolves when nothing runs. */
  async close(): Promise<void> {
    this.#stopped.abort();
    for (const line of this.#lines.values()) {
      line.stop();
      clearTimeout(line.timer);
    }
    await Promise.all(this.#running);
  }

  #wake(accountId: string, id: string): void {
    if (this.#stopped.signal.aborted || this.#options.reach === undefined) return;
    const name = `${accountId} ${id}`;
    let line = this.#lines.get(name);
    if (line === undefined) {
      const stop = this.#options.events.watch(accountId, () => this.#wake(accountId, id));
      line = { isRunning: false, isDue: false, timer: undefined, stop };
      this.#lines.set(name, line);
    }
    line.isDue = true;
    if (line.isRunning) return;
    line.isRunning = true;
    const run = this.#run(accountId, id, line).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #run(accountId: string, id: string, line: Line): Promise<void> {
    while (line.isDue && !this.#stopped.signal.aborted) {
      line.isDue = false;
      clearTimeout(line.timer);
      try {
        const pauseMs = await this.#drain(accountId, id);
        if (pauseMs === undefined) continue;
        line.timer = setTimeout(() => this.#wake(accountId, id), pauseMs).unref();
      } catch (error) {
        // The store refused for now, such as a full disk: what was not recorded is sent again.
        this.#options.log.warn({ err: error, webhook: id }, 'a webhook could not go on; it is tried again');
        line.timer = setTimeout(() => this.#wake(accountId, id), limits.webhookPausesMs[0]).unref();
      }
    }
    line.isRunning = false;
    // A damaged row stays. An error here has no caller to catch it and would end the hub.
    if (!isThere(this.#options.store, webhooks, [accountId, id])) {
      line.stop();
      clearTimeout(line.timer);
      this.#lines.delete(`${accountId} ${id}`);
    }
  }

  /** Sends until nothing is left, or returns how long to wait before the next try. */
  async #drain(accountId: string, id: string): Promise<number | undefined> {
    const { store, now, isOpen } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const record = store.get(webhooks, [accountId, id]);
      if (record === undefined || record.disabled !== null || !isOpen(accountId)) return undefined;
      const pauseMs = waitMs(record, now());
      if (pauseMs > 0) return pauseMs;
      const webhook = { ...record, id };
      const missed = this.#options.events.missedAfter(accountId, record.position);
      if (missed !== undefined) {
        await this.#tellMissed(accountId, webhook, missed);
        continue;
      }
      const page = this.#options.events.page(accountId, record.position, {
        limit: 1,
        kinds: record.kinds ?? undefined,
      });
      const [event] = page.events;
      if (event !== undefined) {
        await this.#deliver(accountId, webhook, messageOf(webhook, event), page.position);
        continue;
      }
      const passed = page.position.records - record.position.records;
      if (page.hasMore || passed >= limits.webhookPassedMax) await this.#move(accountId, id, page.position);
      if (!page.hasMore) return undefined;
      await setImmediate();
    }
    return undefined;
  }

  /** Tells a webhook, before the next event, that events of its kinds are gone. */
  async #tellMissed(accountId: string, webhook: Webhook, { count, position }: Missed): Promise<void> {
    const { events, now } = this.#options;
    if (webhook.kinds?.every((kind) => !FORGOTTEN_KINDS.has(kind)) === true) {
      await this.#move(accountId, webhook.id, position);
      return;
    }
    const cursor = events.cursorOf(accountId, position);
    const at = new Date(now()).toISOString();
    await this.#deliver(accountId, webhook, missedMessage(webhook, { count, cursor, at }), position);
  }

  async #deliver(accountId: string, webhook: Webhook, message: PostedMessage, position: EventPosition): Promise<void> {
    const outcome = await this.#post(accountId, webhook, message);
    // Cut off by the end of the process: nothing is known of it.
    if (this.#stopped.signal.aborted && outcome.error !== null) return;
    if (outcome.error === null) this.#delivered += 1;
    else this.#failed += 1;
    const { actors, now, log, tell } = this.#options;
    const disabled = await actors.account(accountId).ask((batch): string | null => {
      const record = batch.get(webhooks, [accountId, webhook.id]);
      // Removed or turned off meanwhile.
      if (record === undefined || record.disabled !== null) return null;
      const made = { delivery: message.delivery, outcome, position, nowMs: now(), random: Math.random() };
      const next = afterTry(record, made);
      batch.put(webhooks, [accountId, webhook.id], next);
      if (next.disabled !== null) {
        const detail = shownAddress(record.url);
        noteAct(batch, accountId, { atMs: made.nowMs, act: 'webhook_disabled', source: BY_HUB, detail });
      }
      return next.disabled;
    });
    if (disabled === null) return;
    this.#disabled += 1;
    log.warn({ account_id: accountId, webhook: webhook.id }, 'a webhook is disabled');
    tell(accountId, { url: shownAddress(webhook.url), reason: disabled });
  }

  /** A bounded number of messages is sent at once. Accounts take turns. */
  #post(accountId: string, webhook: Webhook, { delivery, at, data }: PostedMessage): Promise<PostOutcome> {
    const { webhooks: service, now, reach = 'public' } = this.#options;
    return this.#places.run(accountId, async () => {
      if (this.#stopped.signal.aborted) return { status: null, error: 'the hub stops' };
      const seconds = Math.floor(now() / 1000);
      const { message: id, kind, act } = delivery;
      const body = JSON.stringify({ type: `${kind}.${act}`, timestamp: at, data });
      const signature = signatures(service.secretsOf(accountId, webhook), { id, seconds, body });
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signature };
      return await post({ url: webhook.url, headers, body }, reach, this.#stopped.signal);
    });
  }

  /** Passes events that the webhook does not want, so that its position stays among those that are kept. */
  async #move(accountId: string, id: string, position: EventPosition): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch): void => {
      const record = batch.get(webhooks, [accountId, id]);
      if (record !== undefined) batch.put(webhooks, [accountId, id], { ...record, position });
    });
  }
}
