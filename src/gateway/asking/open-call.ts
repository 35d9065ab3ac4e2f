/**
 * Answers a call that may ask its user, or tell of its progress: with one reply, or after the first question or note with a
 * stream of them that ends with the answer.
 */
import type { ByteSource, Parts } from '../../http/reply/body.ts';
import type { Feed } from '../../http/reply/feed.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { limits } from '../../limits/service.ts';
import { EventFeed } from '../../live/event-feed.ts';
import type { Ask } from './ask.ts';
import { type Progress, ProgressNotes } from './progress.ts';
import type { Asker, Questions } from './questions.ts';

/** What a call can tell its client while it runs. */
interface Telling {
  readonly ask?: Ask;
  readonly progress?: Progress;
}

export interface OpenCall<T> {
  /** Undefined when the client cannot ask its user. */
  readonly asking: { readonly questions: Questions; readonly asker: Asker } | undefined;
  /** Token of the progress that the client wants to hear of; undefined: it does not. */
  readonly progressToken: string | number | undefined;
  /** Extends the deadline of the call. Registers a function to call when the client is gone. */
  readonly onGone: (gone: () => void) => void;
  readonly answer: (telling: Telling) => Promise<T>;
  /** The reply of a call that told nothing. */
  readonly whole: (answered: T) => Reply;
  /** The last event of a call that did; undefined when it has no answer. */
  readonly last: (answered: T) => Parts | ByteSource | undefined;
}

export async function answerOpenly<T>(call: OpenCall<T>): Promise<Reply> {
  const { asking, progressToken, onGone, answer, whole, last } = call;
  const stream = new AnswerStream();
  const send = (message: string) => {
    if (!stream.isOpen) onGone(() => undefined);
    stream.send(message);
  };
  const notes = progressToken === undefined ? undefined : new ProgressNotes(progressToken, send);
  const ask: Ask | undefined = asking && ((question) => asking.questions.ask(asking.asker, question, send, onGone));
  const telling = { ...(ask === undefined ? {} : { ask }), ...(notes === undefined ? {} : { progress: notes.note }) };
  const answering = answer(telling).finally(() => notes?.end());
  const plain = answering.then((answered) => (stream.isOpen ? undefined : whole(answered)));
  const reply = await Promise.race([plain, stream.opened]);
  if (reply !== undefined && !stream.isOpen) return reply;
  void answering.then(
    (answered) => stream.finish(last(answered)),
    () => stream.finish(undefined),
  );
  return stream.reply;
}

/** Events, then the answer, whatever its size. */
class AnswerStream implements Feed {
  readonly opened: Promise<undefined>;
  #events: EventFeed | undefined;
  #noteOpened: () => void = () => undefined;
  readonly #finished: Promise<Parts | ByteSource | undefined>;
  #finish: (last: Parts | ByteSource | undefined) => void = () => undefined;
  #isGiven = false;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#noteOpened = () => resolve(undefined);
    });
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#events !== undefined;
  }

  get reply(): Reply {
    return { ...this.#feed.reply, body: this, listens: true };
  }

  send(message: string): void {
    this.#feed.send({ event: 'message', data: message });
    this.#noteOpened();
  }

  finish(last: Parts | ByteSource | undefined): void {
    this.#finish(last);
    this.#feed.end();
  }

  async next(): Promise<Parts | ByteSource | undefined> {
    const event = await this.#feed.next();
    if (event !== undefined) return event;
    // A reader that was too slow for the notes still gets the answer.
    const last = await this.#finished;
    if (this.#isGiven) return undefined;
    this.#isGiven = true;
    return last;
  }

  get #feed(): EventFeed {
    this.#events ??= new EventFeed({ beatMs: limits.eventBeatMs });
    return this.#events;
  }
}
