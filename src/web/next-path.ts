/** Owns which paths a sign-in may lead on to: this service's own, and nothing that a browser reads otherwise. Pure. */

import { limits } from '../limits/service.ts';

const BASE = 'http://cairn.invalid';

/** An own path with its query, or the front page when `given` is anything else. */
export function ownPath(given: string | null | undefined): string {
  if (given === null || given === undefined || given.length > limits.nextPathCharsMax) return '/';
  // Browsers read a backslash as a slash and drop control characters, so that neither may stand in what is checked here.
  if (!given.startsWith('/') || /[\\\p{C}\s]/u.test(given)) return '/';
  if (!URL.canParse(given, BASE)) return '/';
  const url = new URL(given, BASE);
  // Resolved as a browser does it: `//host`, and dots that climb to one, have left the base or lead with two slashes.
  if (url.origin !== BASE || url.pathname.startsWith('//')) return '/';
  return url.pathname + url.search;
}

/** The sign-in page that leads back to a path. */
export function signInPath(next: string): string {
  return next === '/' ? '/signin' : `/signin?next=${encodeURIComponent(next)}`;
}

/** The own page that a form was sent from; undefined: the browser does not say, or it is another site's. */
export function cameFrom(
  request: { header(name: string): string | undefined },
  isOwnOrigin: (origin: string, host: string) => boolean,
): string | undefined {
  const referer = request.header('referer') ?? '';
  const from = URL.canParse(referer) ? new URL(referer) : undefined;
  const isOwn = from !== undefined && isOwnOrigin(from.origin, request.header('host') ?? '');
  return isOwn ? ownPath(from.pathname + from.search) : undefined;
}

/** Path and query of a request. */
export function addressOf({ path, query }: { readonly path: string; readonly query: URLSearchParams }): string {
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
