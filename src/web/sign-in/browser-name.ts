/** Owns how a browser is called in a list: its family and its system, read from what it says of itself. Pure. */

/** In this order: most families also name those that came before them. */
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

/** For example `Firefox on Linux`; what is not a known browser is called as it calls itself. */
export function browserName(agent: string | null): string {
  if (agent === null) return 'a browser without a name';
  const family = FAMILIES.find(([mark]) => mark.test(agent))?.[1];
  const system = SYSTEMS.find(([mark]) => mark.test(agent))?.[1];
  if (family === undefined) return agent;
  return system === undefined ? family : `${family} on ${system}`;
}
