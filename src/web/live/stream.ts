/**
 * One stream of server-sent events (WHATWG HTML standard, 9.2). Sends the changes since the last event in batches. A
 * periodic `retry` line keeps proxies from closing the stream, and detects readers that are gone.
 */

import type { Parts } from '../../http/reply/body.ts';
import type { Feed } from '../../http/reply/feed.ts';
import { limits } from '../../limits/service.ts';
import type { LiveTopic } from '../visit.ts';
import type { LiveListener } from './changes.ts';

interface StreamOptions {
  /** The current state of the account. */
  readonly mark: () => string;
  /** True while the reader is signed in to an account that is neither disabled nor deleted. */
  readonly mayRead: () => boolean;
  readonly onEnd: () => void;
}

export class LiveStream implements Feed, LiveListener {
  readonly #options: StreamOptions;
  readonly #changed = new Map<LiveTopic | 'all', number>();
  #gathering: NodeJS.Timeout | undefined;
  #isDue = false;
  #isBeat = false;
  #isSignedOut = false;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** `isBehind`: the page is older than the latest change. */
  constructor(options: StreamOptions, isBehind: boolean) {
    this.#options = options;
    // The first message sets the reconnect delay. It is random, so that not all reconnect at once after a restart.
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

  changed(topic: LiveTopic, rows: number): void {
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

  /** Sends the periodic `retry` line. */
  beat(): void {
    this.#isBeat = true;
    this.recheck();
    this.#wake?.();
  }

  /** Ends the stream: its reader is gone, or the service stops. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#gathering);
    this.#options.onEnd();
    this.#wake?.();
  }

  #take(): string {
    if (this.#isSignedOut) {
      // This is the last event: the next call of `next` returns undefined.
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
