/** Checks where a sign-in may redirect to: only paths of this service, exactly as a browser parses them. Pure. */

import { limits } from '../limits/service.ts';

const BASE = 'http://cairn.invalid';

/** Returns `given` if it is a path of this service with its query, otherwise the front page. */
export function ownPath(given: string | null | undefined): string {
  if (given === null || given === undefined || given.length > limits.nextPathCharsMax) return '/';
  // Browsers read a backslash as a slash and drop control characters, so neither is allowed.
  if (!given.startsWith('/') || /[\\\p{C}\s]/u.test(given)) return '/';
  if (!URL.canParse(given, BASE)) return '/';
  const url = new URL(given, BASE);
  // Resolved like in a browser: `//host`, or dots that lead to it, change the origin or leave two leading slashes.
  if (url.origin !== BASE || url.pathname.startsWith('//')) return '/';
  return url.pathname + url.search;
}

/** The sign-in page that redirects to a path afterwards. */
export function signInPath(next: string): string {
  return next === '/' ? '/signin' : `/signin?next=${encodeURIComponent(next)}`;
}

/** The page of this service that sent a form; undefined: the Referer is missing, or names another site. */
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
