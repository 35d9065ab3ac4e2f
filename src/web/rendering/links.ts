/** Resolves links and images of a Markdown text: to the vault of the text, to other sites, or to nothing. Pure. */
import type { LinkBase } from '../../pool/jobs.ts';

/** Prefix of heading ids, so that a text cannot use an id of the page. */
export const HEADING_ID = 'h-';

const OUTSIDE = /^(https?:\/\/|mailto:)/i;
/** A placeholder origin; anything that resolves to a different origin is outside. */
const HERE = 'http://here.invalid';

export type Target =
  /** In this vault or on this page. */
  { readonly kind: 'here'; readonly href: string } | { readonly kind: 'outside'; readonly href: string };

/** The target of a link; undefined: an invalid or forbidden one. */
export function linkTarget(href: string, base: LinkBase | undefined): Target | undefined {
  const trimmed = href.trim();
  if (OUTSIDE.test(trimmed)) return URL.canParse(trimmed) ? { kind: 'outside', href: trimmed } : undefined;
  if (trimmed.startsWith('#')) return { kind: 'here', href: `#${HEADING_ID}${slugOf(decoded(trimmed.slice(1)))}` };
  const found = pathTarget(trimmed, base);
  if (found === undefined || base === undefined) return undefined;
  const { path, hash } = found;
  const isFolder = path === '' || path.endsWith('/');
  const query = isFolder
    ? new URLSearchParams(path === '' ? {} : { folder: path.slice(0, -1) })
    : new URLSearchParams({ path });
  const page = isFolder ? base.vault : `${base.vault}/file`;
  return { kind: 'here', href: `${page}?${query}${hash === '' ? '' : `#${HEADING_ID}${slugOf(hash)}`}` };
}

/** The address of an image's bytes in this vault; undefined for other images: loading them would reveal the reader. */
export function imageSource(source: string, base: LinkBase | undefined): string | undefined {
  const found = OUTSIDE.test(source.trim()) ? undefined : pathTarget(source.trim(), base);
  if (found === undefined || found.path === '' || base === undefined) return undefined;
  return `${base.vault}/raw?${new URLSearchParams({ path: found.path })}`;
}

/** The id of a heading, in the style of GitHub: lower case, words joined by hyphens. */
export function slugOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function pathTarget(href: string, base: LinkBase | undefined) {
  if (base === undefined || href === '' || href.includes('\\')) return undefined;
  const folder = base.folder.split('/').map(encodeURIComponent).join('/');
  const from = `${HERE}/${folder === '' ? '' : `${folder}/`}`;
  const url = URL.canParse(href, from) ? new URL(href, from) : undefined;
  if (url === undefined || url.origin !== HERE) return undefined;
  return { path: decoded(url.pathname.slice(1)), hash: decoded(url.hash.slice(1)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Invalid percent-encoding is kept as is.
    return text;
  }
}
