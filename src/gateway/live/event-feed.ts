/** Owns an answer of server-sent events (WHATWG HTML, 9.2): messages are sent as they come, and comments keep the way open. */
import type { Parts } from '../../http/reply/body.ts';
import type { Feed } from '../../http/reply/feed.ts';
import { feed, type Reply } from '../../http/reply/reply.ts';
import { acceptance } from '../../http/request/accept.ts';
import { limits } from '../../limits/service.ts';

const EVENTS = 'text/event-stream';

/** A client that names the type reads events; one that takes anything may not. */
export function readsEvents(accept: string | undefined): boolean {
  return acceptance(accept, EVENTS) === 'named';
}

export class EventFeed implements Feed {
  readonly #waiting: string[] = [];
  readonly #beat: NodeJS.Timeout;
  #bytesWaiting = 0;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** `onBeat` runs every few seconds, before the comment that keeps the connection open. */
  constructor(onBeat: () => void = () => undefined) {
    this.#beat = setInterval(() => {
      onBeat();
      // A comment that nobody has read yet needs no other one after it.
      if (this.#waiting.length === 0) this.#push(':\n\n');
    }, limits.eventBeatMs);
    this.#beat.unref();
  }

  /** Sends a JSON-RPC message. False: the client reads too slowly, so that too much waits for it; the feed ends. */
  send(message: string): boolean {
    this.#push(`event: message\ndata: ${message}\n\n`);
    if (this.#bytesWaiting <= limits.eventBytesWaitingMax) return true;
    this.#waiting.length = 0;
    this.end();
    return false;
  }

  /** What was sent still goes out, then the answer ends. */
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

  /** The answer that sends this feed. */
  get reply(): Reply {
    // A proxy that collects an answer would hold events back (nginx, X-Accel-Buffering).
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
