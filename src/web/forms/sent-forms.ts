/**
 * Runs a form that is sent twice only once, for a double click without script or a request repeated by a browser. Every
 * rendered page masks the token of its forms in another way; the same fields with the same mask are the same form.
 */
import { createHash } from 'node:crypto';
import { Recent } from '../../cache/recent.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { limits } from '../../limits/service.ts';
import { addressOf } from '../next-path.ts';
import type { Visit } from '../visit.ts';

const DONE = 303;

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

/** The browser, the address and all fields, which include the masked token of the page. */
function keyOf({ browserId, request }: Visit): string {
  const digest = createHash('sha256');
  for (const part of [browserId, addressOf(request), ...Array.from(request.form).flat()]) {
    digest.update(`${part.length} `).update(part);
  }
  return digest.digest('base64url');
}
