/** What happened in a storm, in the order of time: what users did, what watches said, what was killed. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const LINES_MAX = 30;
/** What a user does is noted right after it was done. */
const AFTER_MS = 1000;

interface Entry {
  readonly ms: number;
  readonly text: string;
}

export class Journal {
  readonly #startMs = Date.now();
  readonly #entries: Entry[] = [];

  note(who: string, text: string): void {
    const ms = Date.now() - this.#startMs;
    for (const line of text.split('\n')) if (line !== '') this.#entries.push({ ms, text: `${who}  ${line}` });
  }

  /** What was noted about a name until a moment (milliseconds since 1970), most recent last. */
  about(path: string, untilMs = Number.POSITIVE_INFINITY): string[] {
    const name = basename(path).normalize('NFC');
    const found = this.#entries.filter(
      ({ ms, text }) =>
        ms <= untilMs - this.#startMs + AFTER_MS && (text.normalize('NFC').includes(name) || text.includes('FAULT')),
    );
    return found.slice(-LINES_MAX).map(lineOf);
  }

  write(file: string): void {
    writeFileSync(file, this.#entries.map((entry) => `${lineOf(entry)}\n`).join(''));
  }
}

function lineOf({ ms, text }: Entry): string {
  return `${(ms / 1000).toFixed(3).padStart(9)}  ${text}`;
}
