/**
 * Checks that a form was made for this browser, and keeps text written in a session that has ended. A form is valid if
 * its `Origin` and `Sec-Fetch-Site`, when present, are ours, and if it contains the token of the browser's own id.
 */
import type { RouteRequest } from '../../http/route/route.ts';
import { addressOf } from '../next-path.ts';
import { CSRF_FIELD } from '../ui.tsx';
import type { Visit } from '../visit.ts';
import type { Drafts } from './drafts.ts';
import { isSameToken, ownerOfToken, unmasked } from './token.ts';

/** Values of Sec-Fetch-Site for pages of other sites, and of other hosts or ports of the same one. */
const FOREIGN_SITES: ReadonlySet<string> = new Set(['cross-site', 'same-site']);

export interface OwnFormsOptions {
  readonly drafts: Drafts;
  /** True for the origins of this service's pages, when addressed as `host`. */
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
    return this.#isOwnOrigin(request) && isSameToken(unmasked(form.get(CSRF_FIELD) ?? ''), unmasked(csrf));
  }

  /** Keeps the text of a form that this hub made for a member; undefined: no such form, or nothing was written. */
  keep({ request }: Visit): { readonly accountId: string; readonly path: string } | undefined {
    const { keyedHash, drafts } = this.#options;
    const accountId = ownerOfToken(keyedHash, unmasked(request.form.get(CSRF_FIELD) ?? ''));
    if (accountId === undefined || !this.#isOwnOrigin(request)) return undefined;
    const path = drafts.keep(accountId, addressOf(request), request.form);
    return path === undefined ? undefined : { accountId, path };
  }

  /**
   * Some browsers send no origin; for those the token alone proves the form is ours. Current ones also say where a
   * request comes from (Fetch Metadata), and a page of another site cannot change that.
   */
  #isOwnOrigin(request: RouteRequest): boolean {
    if (isFromElsewhere(request)) return false;
    const origin = request.header('origin');
    return origin === undefined || this.#options.isOwnOrigin(origin, request.header('host') ?? '');
  }
}

/** True when the browser says that a page of another site, host or port made this request. */
export function isFromElsewhere(request: RouteRequest): boolean {
  return FOREIGN_SITES.has(request.header('sec-fetch-site') ?? '');
}
