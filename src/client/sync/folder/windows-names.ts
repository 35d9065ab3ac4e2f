/** Names that Windows cannot hold, or takes for another file. Other systems hold them, so they are refused only there. Pure. */

/** Windows ends a name at a colon: what follows names a stream of that file. */
const FORBIDDEN = /[<>:"|?*]/;
/** A device, whatever follows the first dot: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?$/i;

/** Why Windows cannot hold a path; undefined when it can. */
export function whyNotOnWindows(path: string): string | undefined {
  for (const part of path.split('/')) {
    if (FORBIDDEN.test(part)) return 'Windows cannot hold a name with one of < > : " | ? *.';
    if (/[. ]$/.test(part)) return 'Windows drops a dot or a space at the end of a name.';
    if (DEVICE.test(part)) return 'Windows takes this name for a device.';
  }
  return undefined;
}
