/**
 * Sends notices to `CAIRN_NOTIFY_URL` without delaying or failing anything else. They wait in memory, up to a maximum
 * number, and are retried with growing pauses. The address is a secret: it is never logged, and a redirect to another one
 * is not followed.
 */
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import { type NoticeFormat, type OperatorNotice, requestOf } from './notice.ts';

export interface NotifierOptions {
  readonly url: string;
  readonly format: NoticeFormat;
  readonly log: Log;
}

/** Result of one attempt: delivered, worth another attempt, or refused permanently. */
interface Outcome {
  readonly result: 'sent' | 'retry' | 'refused';
  readonly status?: number;
  readonly code?: string;
}

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #waiting: OperatorNotice[] = [];
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Queues a notice. */
  send(notice: OperatorNotice): void {
    if (this.#stopped.signal.aborted || this.#waiting.length >= limits.noticesWaitingMax) {
      this.#options.log.warn('too many notices wait to be sent to CAIRN_NOTIFY_URL; one was dropped');
      return;
    }
    this.#waiting.push(notice);
    this.#running ??= this.#run();
  }

  /** Drops what waits, and logs how many. Resolves when nothing is being sent. */
  async close(): Promise<void> {
    const notices = this.#waiting.splice(0).length;
    if (notices > 0) this.#options.log.warn({ notices }, 'the hub stops; notices that waited to be sent were dropped');
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let notice = this.#waiting.shift(); notice !== undefined; notice = this.#waiting.shift()) {
      await this.#deliver(notice);
    }
    // In the same turn as the look at the empty queue: what is queued later starts a new run.
    this.#running = undefined;
  }

  async #deliver(notice: OperatorNotice): Promise<void> {
    for (const [index, pauseMs] of [...limits.noticePausesMs, undefined].entries()) {
      const { result, ...why } = await this.#attempt(notice);
      if (result === 'sent') return;
      const isFinal = result === 'refused' || pauseMs === undefined || this.#stopped.signal.aborted;
      const words = isFinal ? 'could not be sent and was dropped' : 'could not be sent; trying again';
      this.#options.log.warn({ ...why, tries: index + 1 }, `a notice to CAIRN_NOTIFY_URL ${words}`);
      if (isFinal) return;
      await this.#pause(pauseMs);
    }
  }

  async #attempt(notice: OperatorNotice): Promise<Outcome> {
    const { url, format } = this.#options;
    try {
      const { url: to, headers, body } = requestOf(url, format, notice);
      const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(limits.noticeTimeoutMs)]);
      const answer = await fetch(to, {
        method: 'POST',
        headers: { ...headers, 'User-Agent': 'cairn' },
        body,
        redirect: 'manual',
        signal,
      });
      await answer.body?.cancel();
      const { ok, status } = answer;
      if (ok) return { result: 'sent' };
      return { result: status === 408 || status === 429 || status >= 500 ? 'retry' : 'refused', status };
    } catch (error) {
      // Only the code: the message contains the address.
      const { name, cause } = error as { readonly name: string; readonly cause?: { readonly code?: string } };
      return { result: 'retry', code: cause?.code ?? name };
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#stopped.signal.addEventListener('abort', end, { once: true });
    });
  }
}
