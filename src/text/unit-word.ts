/**
 * A word of a command or value in a systemd unit: systemd expands % and $, so they are doubled, and a word with other
 * characters than these is quoted (systemd.service(5), "Command lines").
 */
export function unitWord(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w/.@:+=%$-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll(/["\\]/g, '\\$&')}"`;
}
