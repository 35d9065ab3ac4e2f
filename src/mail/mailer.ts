/**
 * Sends mail over SMTP without delaying or failing a caller. Letters wait in memory, up to a maximum number, and are
 * retried a few times. An undeliverable letter is logged without its recipient, its text or the address of the server.
 */
import { createTransport } from 'nodemailer';
import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  send(letter: Letter): void;
}

export interface MailerOptions {
  /** `smtp://` or `smtps://`, with user and password if the server requires them. */
  readonly url: string;
  readonly from: string;
  readonly log: Log;
}

export class Mailer implements Mail {
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #options: MailerOptions;
  readonly #waiting: Letter[] = [];
  #running: Promise<void> | undefined;
  #stop: (() => void) | undefined;
  #isClosed = false;

  constructor(options: MailerOptions) {
    this.#options = options;
    this.#transport = createTransport(transportOf(options.url));
  }

  send(letter: Letter): void {
    if (this.#isClosed || this.#waiting.length >= limits.lettersWaitingMax) {
      this.#options.log.warn('too much mail waits to be sent; a letter was dropped');
      return;
    }
    this.#waiting.push(letter);
    this.#running ??= this.#run();
  }

  /**
   * Drops the queue, logs how many letters it had, and ends the pause before a retry: that letter gets one last
   * attempt. Resolves when nothing is being sent, at the latest after the time-outs of SMTP.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const letters = this.#waiting.splice(0).length;
    if (letters > 0) this.#options.log.warn({ letters }, 'the hub stops; letters that waited to be sent were dropped');
    this.#stop?.();
    this.#transport.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let letter = this.#waiting.shift(); letter !== undefined; letter = this.#waiting.shift()) {
      await this.#deliver(letter);
    }
    // In the same turn as the look at the empty queue: what is queued later starts a new run.
    this.#running = undefined;
  }

  async #deliver(letter: Letter): Promise<void> {
    for (const [index, pauseMs] of [...limits.mailPausesMs, undefined].entries()) {
      try {
        await this.#transport.sendMail(messageOf(this.#options.from, letter));
        return;
      } catch (error) {
        const { code, responseCode } = error as { readonly code?: string; readonly responseCode?: number };
        const isFinal = pauseMs === undefined || (responseCode ?? 0) >= 500 || this.#isClosed;
        const note = isFinal ? 'a mail could not be sent and was dropped' : 'a mail could not be sent; trying again';
        this.#options.log.warn({ code, response: responseCode, tries: index + 1 }, note);
        if (isFinal) return;
        await this.#pause(pauseMs);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#stop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Sends one letter now. Resolves with true when the server accepted it. */
export async function sendNow({ url, from }: Omit<MailerOptions, 'log'>, letter: Letter): Promise<boolean> {
  const transport = createTransport(transportOf(url));
  try {
    await transport.sendMail(messageOf(from, letter));
    return true;
  } catch {
    // The error may contain the server and its credentials.
    return false;
  } finally {
    transport.close();
  }
}

/** The library reads an address given as text as a list: `x,victim@example.org` would be a letter to the victim. */
function messageOf(from: string, { to, subject, text }: Letter) {
  return { from, to: { name: '', address: to }, subject, text };
}

/** Requires TLS unless the server is on this machine: a letter may grant access to an account. */
function transportOf(text: string) {
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const user = decodeURIComponent(url.username);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && !isLocal,
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: limits.mailTimeoutMs,
    greetingTimeout: limits.mailTimeoutMs,
    socketTimeout: limits.mailTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
