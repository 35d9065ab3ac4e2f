/** Sends messages as server-sent events (WHATWG HTML, 9.2); comments keep the connection open. */
import type { Parts } from '../../http/reply/body.ts';
import type { Feed } from '../../http/reply/feed.ts';
import { feed, type Reply } from '../../http/reply/reply.ts';
import { acceptance } from '../../http/request/accept.ts';
import { limits } from '../../limits/service.ts';

const EVENTS = 'text/event-stream';

/** True when `Accept` names the type of events; a client accepting anything may not read them. */
export function readsEvents(accept: string | undefined): boolean {
  return acceptance(accept, EVENTS) === 'named';
}

export class EventFeed implements Feed {
  readonly #waiting: string[] = [];
  readonly #beat: NodeJS.Timeout;
  #bytesWaiting = 0;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** `onBeat` runs every `limits.eventBeatMs`, before the keep-alive comment. */
  constructor(onBeat: () => void = () => undefined) {
    this.#beat = setInterval(() => {
      onBeat();
      // A waiting message or comment makes another comment unnecessary.
      if (this.#waiting.length === 0) this.#push(':\n\n');
    }, limits.eventBeatMs);
    this.#beat.unref();
  }

  /** Sends a JSON-RPC message. Returns false and ends the feed when the client reads too slowly. */
  send(message: string): boolean {
    this.#push(`event: message\ndata: ${message}\n\n`);
    if (this.#bytesWaiting <= limits.eventBytesWaitingMax) return true;
    this.#waiting.length = 0;
    this.end();
    return false;
  }

  /** Ends the feed after sending the waiting messages. */
  end(): void {
    this.#isOver = true;
    clearInterval(this.#beat);
    this.#wake?.();
  }

  async next(): Promise<Parts | undefined> {
    while (this.#waiting.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const text = this.#waiting.splice(0).join('');
    this.#bytesWaiting = 0;
    return text === '' ? undefined : [text];
  }

  /** The reply that sends this feed. */
  get reply(): Reply {
    // A buffering proxy would delay events (nginx, X-Accel-Buffering).
    const headers = { 'Content-Type': EVENTS, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };
    return { ...feed(200, this, headers), listens: true };
  }

  #push(text: string): void {
    if (this.#isOver) return;
    this.#waiting.push(text);
    this.#bytesWaiting += text.length;
    this.#wake?.();
  }
}
