/** Encodes and sends server-sent events (WHATWG HTML, 9.2) to one client, with keep-alives in between. */
import { Refusal } from '../common/fault.ts';
import type { Parts } from '../http/reply/body.ts';
import type { Feed } from '../http/reply/feed.ts';
import { feed, type Reply } from '../http/reply/reply.ts';
import { acceptance } from '../http/request/accept.ts';
import { limits } from '../limits/service.ts';

const EVENTS = 'text/event-stream';

const HEADERS = {
  'Content-Type': EVENTS,
  'Cache-Control': 'no-store',
  // A buffering proxy would delay events (nginx).
  'X-Accel-Buffering': 'no',
};

/** True when `Accept` names the type of events; a client accepting anything may not read them. */
export function readsEvents(accept: string | undefined): boolean {
  return acceptance(accept, EVENTS) === 'named';
}

export interface ServerSentEvent {
  readonly event: string;
  /** One line. */
  readonly data: string;
  /** Sent back by a browser that reconnects (`Last-Event-ID`). */
  readonly id?: string;
}

export interface EventFeedOptions {
  /** Milliseconds between keep-alives. */
  readonly beatMs: number;
  /** Called before each keep-alive. A refusal that it throws ends the feed: whether its reader may stay is not known. */
  readonly onBeat?: () => unknown;
  /** The lines of a keep-alive; default: a comment. */
  readonly beat?: () => string;
  /** Asked for an event whenever the client has room, so that a slow client gets one event for many changes. */
  readonly newest?: () => ServerSentEvent | undefined;
}

export class EventFeed implements Feed {
  readonly #options: EventFeedOptions;
  readonly #waiting: string[] = [];
  readonly #beats: NodeJS.Timeout;
  #bytesWaiting = 0;
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#beats = setInterval(() => void this.#keepAlive(), options.beatMs);
    this.#beats.unref();
  }

  /** Queues an event. Returns false and ends the feed when the client reads too slowly. */
  send(event: ServerSentEvent): boolean {
    this.#push(textOf(event));
    if (this.#bytesWaiting <= limits.eventBytesWaitingMax) return true;
    this.#waiting.length = 0;
    this.end();
    return false;
  }

  /** Sends a keep-alive now, unless something waits to be sent. */
  beat(): void {
    if (this.#waiting.length === 0) this.#push(this.#options.beat?.() ?? ':\n\n');
  }

  /** Asks for the newest event, now or when the client has room. */
  refresh(): void {
    this.#wake?.();
  }

  /** Ends the feed after sending what waits. */
  end(): void {
    this.#isOver = true;
    clearInterval(this.#beats);
    this.#wake?.();
  }

  async next(): Promise<Parts | undefined> {
    for (;;) {
      const text = this.#take();
      if (text !== '') return [text];
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The reply that sends this feed. */
  get reply(): Reply {
    return feed(200, this, HEADERS);
  }

  async #keepAlive(): Promise<void> {
    try {
      const looked = this.#options.onBeat?.();
      this.beat();
      await looked;
    } catch (error) {
      this.end();
      if (!(error instanceof Refusal)) throw error;
    }
  }

  #take(): string {
    const newest = this.#isOver ? undefined : this.#options.newest?.();
    const text = this.#waiting.splice(0).join('') + (newest === undefined ? '' : textOf(newest));
    this.#bytesWaiting = 0;
    return text;
  }

  #push(text: string): void {
    if (this.#isOver) return;
    this.#waiting.push(text);
    this.#bytesWaiting += text.length;
    this.#wake?.();
  }
}

function textOf({ event, data, id }: ServerSentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}
