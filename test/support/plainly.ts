/** Runs a command so that permissions of files matter to it, also where the tests run as root. */

/** To put before a command: root without these rights is refused what a mode does not permit. */
export const plainly: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
