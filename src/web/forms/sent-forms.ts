/**
 * Runs a form that is sent twice only once, for a double click without script or a request repeated by a browser. Every
 * rendered page has a number of its own in its forms; the same fields with the same number are the same form.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Recent } from '../../cache/recent.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { limits } from '../../limits/service.ts';
import { addressOf } from '../next-path.ts';
import type { Visit } from '../visit.ts';

const NUMBER_BYTES = 8;
const MARK = '~';
const DONE = 303;

/** Adds a number to the token of the forms on a page. It is new for each rendering of the page. */
export function numbered(token: string): string {
  return `${token}${MARK}${randomBytes(NUMBER_BYTES).toString('base64url')}`;
}

/** The token of a form without the number of its page. */
export function unnumbered(field: string): string {
  return field.split(MARK, 1)[0] ?? '';
}

export class SentForms {
  readonly #answers = new Recent<Promise<Reply>>(limits.sentFormsRemembered);

  /**
   * Runs `act`, or returns the answer to the same form sent earlier, also while that one is still running. Only an answer
   * that redirects is remembered: a form that was refused can be sent again.
   */
  async answer(visit: Visit, act: () => Reply | Promise<Reply>): Promise<Reply> {
    const key = keyOf(visit);
    const earlier = await this.#answers.get(key)?.catch(() => undefined);
    if (earlier?.status === DONE) return earlier;
    // In a promise from the beginning, so that a refusal thrown immediately rejects it.
    const running = Promise.resolve().then(act);
    this.#answers.set(key, running, 1);
    try {
      const reply = await running;
      if (reply.status !== DONE) this.#answers.remove(key);
      return reply;
    } catch (error) {
      this.#answers.remove(key);
      throw error;
    }
  }
}

/** The browser, the address and all fields, which include the number of the page. */
function keyOf({ browserId, request }: Visit): string {
  const digest = createHash('sha256');
  for (const part of [browserId, addressOf(request), ...Array.from(request.form).flat()]) {
    digest.update(`${part.length} `).update(part);
  }
  return digest.digest('base64url');
}
