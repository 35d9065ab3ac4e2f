/** Names a browser for a list: its family and system, from the User-Agent header. Pure. */

/** The order matters: most browsers also name the families below them. */
const FAMILIES: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** For example `Firefox on Linux`; for an unknown browser, its User-Agent. */
export function browserName(agent: string | null): string {
  if (agent === null) return 'a browser without a name';
  const family = FAMILIES.find(([mark]) => mark.test(agent))?.[1];
  const system = SYSTEMS.find(([mark]) => mark.test(agent))?.[1];
  if (family === undefined) return agent;
  return system === undefined ? family : `${family} on ${system}`;
}
