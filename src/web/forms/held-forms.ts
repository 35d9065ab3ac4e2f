/**
 * Holds forms that wait for a password: once it is confirmed, what was asked for happens. In memory, for one browser
 * and account, for ten minutes.
 */
import { randomBytes } from 'node:crypto';
import type { Reply } from '../../http/reply/reply.ts';
import type { RouteRequest } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { MemberVisit } from '../visit.ts';

type Act = (visit: MemberVisit) => Reply | Promise<Reply>;

interface Held {
  readonly browserId: string;
  readonly accountId: string;
  readonly act: Act;
  readonly untilMs: number;
}

export class HeldForms {
  /** Oldest first. */
  readonly #held = new Map<string, Held>();

  /** Holds the act of a form, and returns the name to take it by. */
  hold({ browserId, accountId, request }: MemberVisit, act: Act): string {
    const nowMs = Date.now();
    for (const [name, { untilMs }] of this.#held) {
      if (untilMs > nowMs && this.#held.size < limits.heldFormsMax) break;
      this.#held.delete(name);
    }
    const name = randomBytes(16).toString('base64url');
    const again: Act = (visit) => act({ ...visit, request: sentAgain(request, visit.request) });
    this.#held.set(name, { browserId, accountId, act: again, untilMs: nowMs + limits.heldFormMs });
    return name;
  }

  /** Takes the act of this browser and account; undefined: there is none of this name, or it waited too long. */
  take({ browserId, accountId }: MemberVisit, name: string): Act | undefined {
    const held = this.#held.get(name);
    if (held === undefined || held.browserId !== browserId || held.accountId !== accountId) return undefined;
    this.#held.delete(name);
    return held.untilMs > Date.now() ? held.act : undefined;
  }
}

/** What an earlier request asked for, in a later one. */
function sentAgain({ path, params, query, search, form }: RouteRequest, now: RouteRequest): RouteRequest {
  const { document, body, bytesDeclared, address, caller, callsAtOnceMax, isHead } = now;
  return {
    path,
    params,
    query,
    search,
    form,
    document,
    body,
    bytesDeclared,
    address,
    caller,
    callsAtOnceMax,
    isHead,
    header: (name) => now.header(name),
    charge: (calls) => now.charge(calls),
    linger: (seconds, gone) => now.linger(seconds, gone),
    noteCall: () => now.noteCall(),
  };
}
