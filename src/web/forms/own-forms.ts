/**
 * Owns whether a form is this browser's own, and what becomes of one that was written in a session that is over. A form
 * needs two things: an `Origin` that, if there is one, is this service's, and the token of the browser's own id.
 */
import type { RouteRequest } from '../../http/route/route.ts';
import { addressOf } from '../next-path.ts';
import { CSRF_FIELD } from '../ui.tsx';
import type { Visit } from '../visit.ts';
import type { Drafts } from './drafts.ts';
import { isSame, ownerOfToken } from './token.ts';

export interface OwnFormsOptions {
  readonly drafts: Drafts;
  /** True for the origins that this service's own pages have, when it was addressed as `host`. */
  readonly isOwnOrigin: (origin: string, host: string) => boolean;
  /** A keyed hash under the master key. */
  readonly keyedHash: (purpose: string, value: string) => string;
}

export class OwnForms {
  readonly #options: OwnFormsOptions;

  constructor(options: OwnFormsOptions) {
    this.#options = options;
  }

  isOwn({ request, csrf }: Visit, form = request.form): boolean {
    return this.#isOwnOrigin(request) && isSame(form.get(CSRF_FIELD) ?? '', csrf);
  }

  /** Keeps what a form brings that this hub made for a member; undefined: it is no such form, or nothing was written. */
  keep({ request }: Visit): { readonly accountId: string; readonly path: string } | undefined {
    const { keyedHash, drafts } = this.#options;
    const accountId = ownerOfToken(keyedHash, request.form.get(CSRF_FIELD) ?? '');
    if (accountId === undefined || !this.#isOwnOrigin(request)) return undefined;
    const path = drafts.keep(accountId, addressOf(request), request.form);
    return path === undefined ? undefined : { accountId, path };
  }

  /** Some browsers send no origin; the token alone tells their forms from another site's. */
  #isOwnOrigin(request: RouteRequest): boolean {
    const origin = request.header('origin');
    return origin === undefined || this.#options.isOwnOrigin(origin, request.header('host') ?? '');
  }
}
