/** Defines the finding reported by a check of `cairn doctor`. */

/** `wrong` needs a fix; `note` is worth knowing. */
type Level = 'ok' | 'note' | 'wrong';

export interface Finding {
  /** One word naming what was checked. */
  readonly check: string;
  readonly level: Level;
  /** One sentence; unless the level is `ok`, it ends with what to do. */
  readonly text: string;
}

export const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text });
export const note = (check: string, text: string): Finding => ({ check, level: 'note', text });
export const wrong = (check: string, text: string): Finding => ({ check, level: 'wrong', text });

/** Runs a check that fails by throwing. Returns its error message as the finding, or `ok` with the text in `fine`. */
export function checkAttempt(check: string, fine: string, run: () => unknown): Finding {
  try {
    run();
    return ok(check, fine);
  } catch (error) {
    return wrong(check, (error as Error).message);
  }
}

/** Formats bytes for people, in binary units. */
export function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${step === 0 ? bytes : (bytes / 1024 ** step).toFixed(1)} ${units[step]}`;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whole days between two times in milliseconds. */
export const daysBetween = (fromMs: number, toMs: number): number => Math.floor((toMs - fromMs) / DAY_MS);
