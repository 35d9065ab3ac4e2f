/** What happened in a storm, in the order of time: what users did, what watches said, what was killed. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const LINES_MAX = 30;
/** What a user does is noted right after it was done. */
const AFTER_MS = 1000;

/** How often somebody looks at the saves that a client keeps. */
const LOOK_MS = 50;

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

/** Notes when a save comes and goes in a folder, until the returned function is called. */
export function followSaves(folder: string, who: string, journal: Journal): () => void {
  const saves = join(folder, '.cairn/saves');
  let known = new Map<string, string>();
  const look = () => {
    const there = new Map<string, string>();
    for (const name of namesIn(saves)) {
      if (/[.](json|part)$/.test(name)) continue;
      const before = known.get(name);
      const what = before ?? noteOf(join(saves, `${name}.json`));
      there.set(name, what);
      if (before === undefined) journal.note(who, `save comes: ${name} ${what}`);
    }
    for (const [name, what] of known) if (!there.has(name)) journal.note(who, `save goes: ${name} ${what}`);
    known = there;
  };
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // There is none yet, or the folder is away.
    return [];
  }
}

function noteOf(file: string): string {
  try {
    const { path, sha256, base } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string | null>;
    return `${path} ${sha256?.slice(0, 12)} on ${base === null ? 'unknown' : base?.slice(0, 12)}`;
  } catch {
    return 'without a note';
  }
}

function lineOf({ ms, text }: Entry): string {
  return `${(ms / 1000).toFixed(3).padStart(9)}  ${text}`;
}
