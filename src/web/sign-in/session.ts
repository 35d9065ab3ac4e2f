/** Signs a browser in: always with a new session, and with a mail to the owner when the browser is unknown. */

import type { Reply } from '../../http/reply/reply.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Pages, Visit } from '../pages.ts';
import { browserName } from '../visit.ts';

export interface SessionOptions extends Pick<Capabilities, 'sessions' | 'letters'> {
  readonly pages: Pages;
}

export interface NewSession {
  readonly accountId: string;
  readonly next: string;
  /** Of the password that was entered; undefined: the account was created just now. */
  readonly passwordHash?: string;
  readonly notice?: Parameters<Pages['goAs']>[2];
  /** Email to notify; undefined: the account was created just now. */
  readonly tell?: string;
}

/** Starts a session, and ends the previous session of this browser. */
export async function startSession(
  { pages, sessions, letters }: SessionOptions,
  visit: Visit,
  { accountId, next, passwordHash, notice, tell }: NewSession,
): Promise<Reply> {
  await sessions.end(visit.browserId, visit.source);
  const id = await sessions.start(accountId, { ...visit.source, by: 'user' }, passwordHash);
  if (tell !== undefined && pages.knownBrowser(visit, tell) === undefined) {
    letters.newSignIn(tell, `A browser (${browserName(visit.source.agent)})`, visit.source);
  }
  return pages.goAs(next, id, notice);
}
