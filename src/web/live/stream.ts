/**
 * Owns one stream of server-sent events (WHATWG HTML standard, 9.2): what has changed since the last event, gathered, and a
 * comment from time to time, which keeps proxies from closing it and shows that somebody still reads.
 */
import type { Parts } from '../../http/reply/body.ts';
import type { Feed } from '../../http/reply/feed.ts';
import { limits } from '../../limits/service.ts';
import type { LiveListener, Topic } from './changes.ts';

interface StreamOptions {
  /** The state of the account as of now. */
  readonly mark: () => string;
  /** Whether its reader is still signed in to an account that may be used. */
  readonly mayRead: () => boolean;
  readonly onEnd: () => void;
}

export class LiveStream implements Feed, LiveListener {
  readonly #options: StreamOptions;
  readonly #changed = new Map<Topic | 'all', number>();
  #gathering: NodeJS.Timeout | undefined;
  #isDue = false;
  #isBeat = false;
  #isSignedOut = false;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** `isBehind`: the page was made before the latest change. */
  constructor(options: StreamOptions, isBehind: boolean) {
    this.#options = options;
    // The first event says how long a browser waits before it comes again. Not all come back at one time after a restart.
    this.#isBeat = true;
    if (isBehind) this.#changed.set('all', 1);
    this.#isDue = isBehind;
  }

  async next(): Promise<Parts | undefined> {
    while (!this.#isOver) {
      const text = this.#take();
      if (text !== '') return [text];
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return undefined;
  }

  changed(topic: Topic, rows: number): void {
    this.#changed.set(topic, (this.#changed.get(topic) ?? 0) + rows);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#isDue = true;
      this.#wake?.();
    }, limits.liveGatherMs);
  }

  recheck(): void {
    if (this.#options.mayRead()) return;
    this.#isSignedOut = true;
    this.#wake?.();
  }

  /** Time for a sign of life. */
  beat(): void {
    this.#isBeat = true;
    this.recheck();
    this.#wake?.();
  }

  /** Ends the stream: its reader has gone, or the service stops. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#gathering);
    this.#options.onEnd();
    this.#wake?.();
  }

  #take(): string {
    if (this.#isSignedOut) {
      // The feed ends with this event: the next call finds it over.
      this.end();
      return 'event: signed-out\ndata:\n\n';
    }
    let text = '';
    if (this.#isDue) {
      const data = JSON.stringify(Object.fromEntries(this.#changed));
      text += `id: ${this.#options.mark()}\nevent: change\ndata: ${data}\n\n`;
      this.#changed.clear();
      this.#isDue = false;
    }
    if (this.#isBeat) {
      const [least, spread] = [limits.liveRetryMs, limits.liveRetrySpreadMs];
      text += `retry: ${least + Math.floor(Math.random() * spread)}\n\n`;
      this.#isBeat = false;
    }
    return text;
  }
}
