/** Headers of files that a page sends: what is in them is not a page of the hub, so nothing in it runs or is framed. */

import { encodeExtValue } from '../text/ext-value.ts';

/** The header Content-Disposition of a download: the browser saves it under this name. */
export const savedAs = (name: string): string => `attachment; filename*=${encodeExtValue(name)}`;

/** `disposition`: the header Content-Disposition. */
export function downloadHeaders(type: string, disposition: string): Record<string, string> {
  return {
    'Content-Type': type,
    'Content-Disposition': disposition,
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Cache-Control': 'no-store',
  };
}
