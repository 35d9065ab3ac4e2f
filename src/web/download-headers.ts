/** Headers of files that a page sends: what is in them is not a page of the hub, so nothing in it runs or is framed. */

/** `disposition`: the header Content-Disposition. */
export function downloadHeaders(type: string, disposition: string): Record<string, string> {
  return {
    'Content-Type': type,
    'Content-Disposition': disposition,
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Cache-Control': 'no-store',
  };
}
