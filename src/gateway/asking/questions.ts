/**
 * Asks questions in MCP before 2026-07-28: the call stays open, its reply becomes an event stream carrying the
 * question, and the client posts the answer as a separate message.
 */
import { randomUUID } from 'node:crypto';
import { type Caller, Shares } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';
import { type Question, type QuestionAnswer, readAnswer } from './ask.ts';

/** Identifies a call. Only its account and session can answer its questions. */
export interface Asker {
  readonly caller: Caller & { readonly accountId: string };
  readonly sessionId: string;
  /** JSON of the call's id, with which the client can cancel it. */
  readonly callId: string;
}

interface Waiting {
  readonly asker: Asker;
  readonly settle: (answer: QuestionAnswer) => void;
}

const NO_ANSWER: QuestionAnswer = { action: 'cancel' };

export class Questions {
  readonly #waiting = new Map<string, Waiting>();
  readonly #shares = new Shares({
    max: limits.questionsMax,
    what: 'too many questions wait for an answer',
    retryAfterSeconds: limits.retryAfterSeconds,
  });

  /**
   * Asks and resolves with the answer, or with `cancel` when it is late or the client is gone. `send` receives the
   * request as JSON; `onGone` receives a function to call when the client is gone. Throws Refusal `overloaded` when too
   * many questions wait.
   */
  async ask(
    asker: Asker,
    question: Question,
    send: (message: string) => void,
    onGone: (gone: () => void) => void,
  ): Promise<QuestionAnswer> {
    const { name: _, ...params } = question;
    const release = this.#shares.take(asker.caller);
    const id = `ask-${randomUUID()}`;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<QuestionAnswer>((settle) => {
        this.#waiting.set(id, { asker, settle });
        timer = setTimeout(() => settle(NO_ANSWER), limits.questionSecondsMax * 1000);
        timer.unref();
        onGone(() => settle(NO_ANSWER));
        send(JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params }));
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
      release();
    }
  }

  /** Accepts a client's answer to the question `id`; `result` is undefined when the client returned an error. */
  answer(accountId: string, sessionId: string, id: unknown, result: unknown): void {
    const found = typeof id === 'string' ? this.#waiting.get(id) : undefined;
    if (found === undefined || found.asker.caller.accountId !== accountId) return;
    if (found.asker.sessionId === sessionId) found.settle(readAnswer(result));
  }

  /** Cancels the questions of a call cancelled by the client. */
  cancel(accountId: string, sessionId: string, callId: string): void {
    for (const { asker, settle } of this.#waiting.values()) {
      const isOwn = asker.caller.accountId === accountId && asker.sessionId === sessionId;
      if (isOwn && asker.callId === callId) settle(NO_ANSWER);
    }
  }
}
