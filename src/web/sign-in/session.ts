/** Owns how a browser becomes signed in: always a new session, and its owner is told when the browser was not seen before. */
import type { Reply } from '../../http/reply/reply.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Pages, Visit } from '../pages.ts';
import { browserName } from './browser-name.ts';

export interface SessionOptions extends Pick<Capabilities, 'sessions' | 'letters'> {
  readonly pages: Pages;
}

export interface NewSession {
  readonly accountId: string;
  readonly next: string;
  readonly notice?: Parameters<Pages['goAs']>[2];
  /** Who is told of it; undefined: the account was made a moment ago. */
  readonly tell?: string;
}

/** Starts a session; what this browser had before ends. */
export async function startSession(
  { pages, sessions, letters }: SessionOptions,
  visit: Visit,
  { accountId, next, notice, tell }: NewSession,
): Promise<Reply> {
  await sessions.end(visit.browserId, visit.source);
  const id = await sessions.start(accountId, { ...visit.source, by: 'user' });
  if (tell !== undefined && !pages.isKnownBrowser(visit, tell)) {
    letters.newSignIn(tell, `A browser (${browserName(visit.source.agent)})`, visit.source);
  }
  return pages.goAs(next, id, notice);
}
