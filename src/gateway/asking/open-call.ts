/** Answers a call that may ask its user: with one reply, or after a question with a stream of questions and answer. */
import type { Reply } from '../../http/reply/reply.ts';
import { limits } from '../../limits/service.ts';
import { EventFeed } from '../../live/event-feed.ts';
import type { Ask } from './ask.ts';
import type { Asker, Questions } from './questions.ts';

export interface OpenCall<T> {
  readonly questions: Questions;
  readonly asker: Asker;
  /** Registers a function to call when the client is gone. */
  readonly onGone: (gone: () => void) => void;
  readonly answer: (ask: Ask) => Promise<T>;
  /** The reply of a call without questions. */
  readonly whole: (answered: T) => Reply;
  /** JSON of the answer of a call with questions; undefined when it has none. */
  readonly text: (answered: T) => string | undefined;
}

export async function answerOrAsk<T>({ questions, asker, onGone, answer, whole, text }: OpenCall<T>): Promise<Reply> {
  let events: EventFeed | undefined;
  let noteAsked: (feed: EventFeed) => void = () => undefined;
  const whenAsked = new Promise<EventFeed>((resolve) => {
    noteAsked = resolve;
  });
  const ask: Ask = (question) => {
    const feed = events ?? new EventFeed({ beatMs: limits.eventBeatMs });
    events = feed;
    noteAsked(feed);
    return questions.ask(asker, question, (message) => send(feed, message), onGone);
  };
  const answering = answer(ask);
  const first = await Promise.race([answering.then(whole), whenAsked]);
  if (!(first instanceof EventFeed)) return first;
  void answering
    .then((answered) => {
      const message = text(answered);
      if (message !== undefined) send(first, message);
    })
    .finally(() => first.end());
  return { ...first.reply, listens: true };
}

function send(feed: EventFeed, message: string): void {
  feed.send({ event: 'message', data: message });
}
