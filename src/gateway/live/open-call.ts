/** Owns a call that may ask: one answer when it asked nothing, else a stream of events with the question and then the answer. */
import type { Reply } from '../../http/reply/reply.ts';
import type { Ask } from './ask.ts';
import { EventFeed } from './event-feed.ts';
import type { Asker, Questions } from './questions.ts';

export interface OpenCall<T> {
  readonly questions: Questions;
  readonly asker: Asker;
  /** Calls a function when nobody is there for the answer any more. */
  readonly onGone: (gone: () => void) => void;
  readonly answer: (ask: Ask) => Promise<T>;
  /** The answer of a call that asked nothing. */
  readonly whole: (answered: T) => Reply;
  /** The JSON of the answer of a call that asked; undefined: it has none. */
  readonly text: (answered: T) => string | undefined;
}

export async function answerOrAsk<T>({ questions, asker, onGone, answer, whole, text }: OpenCall<T>): Promise<Reply> {
  let events: EventFeed | undefined;
  let noteAsked: (feed: EventFeed) => void = () => undefined;
  const whenAsked = new Promise<EventFeed>((resolve) => {
    noteAsked = resolve;
  });
  const ask: Ask = (question) => {
    const feed = events ?? new EventFeed();
    events = feed;
    noteAsked(feed);
    return questions.ask(asker, question, (message) => feed.send(message), onGone);
  };
  const answering = answer(ask);
  const first = await Promise.race([answering.then(whole), whenAsked]);
  if (!(first instanceof EventFeed)) return first;
  void answering
    .then((answered) => {
      const message = text(answered);
      if (message !== undefined) first.send(message);
    })
    .finally(() => first.end());
  return first.reply;
}
