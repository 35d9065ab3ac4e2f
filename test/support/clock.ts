/** A clock that is wrong, as a program of Node.js sees it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Settings for a process whose clock is ahead by so many milliseconds. */
export function clockAhead(ms: number): { readonly NODE_OPTIONS: string } {
  const file = join(temporaryFolder(), 'clock.mjs');
  writeFileSync(
    file,
    `const Real = Date; const now = () => Real.now() + ${ms};
globalThis.Date = class extends Real { constructor(...given) { if (given.length === 0) super(now()); else super(...given); } static now() { return now(); } };`,
  );
  return { NODE_OPTIONS: `--import=${file}` };
}
