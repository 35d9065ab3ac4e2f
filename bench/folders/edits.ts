/** What becomes of files that both machines edited since they were alike, told by the files that are there at the end. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { textsOf } from '../../test/support/synced-folder.ts';
import { holds, type Pair } from '../felt/machines.ts';

const FOLDER = 'edited by both';
const FILES = 10;
const LINES = 30;
/** Longer than any of the programs waits before it takes a change. */
const SENT_MS = 3000;
/** Nothing changed for so long: at rest. */
const REST_MS = 4000;
const LOOK_MS = 500;

export type Lines = 'different lines' | 'the same line';

const OUTCOMES = [
  'merged on both sides',
  'on both sides, the other text in a copy beside it',
  'on both sides in two copies, the file itself gone',
  'each machine has its own',
  'a text is nowhere',
] as const;
type Outcome = (typeof OUTCOMES)[number];

/** How many of the files ended how. */
export type Outcomes = ReadonlyMap<Outcome, number>;

/** Both machines edit each of some files while the second is off, at `lines` of it. Resolves when all is at rest. */
export async function editedByBoth(pair: Pair, lines: Lines): Promise<Outcomes> {
  const [from, to] = pair.folders;
  const names = Array.from({ length: FILES }, (_, at) => `${lines} ${at}`);
  const put = (folder: string, edited: ReadonlyMap<number, string>) => {
    for (const name of names) {
      const path = join(folder, FOLDER, `${name}.md`);
      mkdirSync(dirname(path), { recursive: true });
      const text = Array.from({ length: LINES }, (_, line) => edited.get(line) ?? `line ${line} of ${name}`);
      writeFileSync(path, `${text.join('\n')}\n`);
    }
  };
  const here = () => textsIn(from);
  const there = () => textsIn(to);
  put(from, new Map());
  await pair.pass?.();
  await holds(
    () => names.every((name) => there().has(`${name}.md`)),
    () => 'the files to edit did not arrive',
    LOOK_MS,
  );
  if (pair.pass === undefined) await sleep(SENT_MS);
  await pair.stopEmpty();
  put(from, new Map([[4, FIRST]]));
  put(to, new Map([[lines === 'the same line' ? 4 : 24, SECOND]]));
  if (pair.pass === undefined) await sleep(SENT_MS);
  await pair.startEmpty();
  await pair.pass?.();
  const restMs = pair.pass === undefined ? REST_MS : 0;
  let seen = '';
  let last = [here(), there()] as const;
  let stillMs = performance.now();
  const isAtRest = () => {
    last = [here(), there()];
    const now = JSON.stringify(last.map((texts) => [...texts]));
    if (now !== seen) stillMs = performance.now();
    seen = now;
    return performance.now() - stillMs > restMs;
  };
  await holds(isAtRest, () => 'it never came to rest', LOOK_MS);
  const outcomes = names.map((name) => outcomeOf(name, ...last));
  return new Map(OUTCOMES.map((outcome) => [outcome, outcomes.filter((one) => one === outcome).length]));
}

const FIRST = 'edited on the first machine';
const SECOND = 'edited on the second machine';

/** The texts of the edited files by name. None while their folder has not arrived, or while a file goes as it is read. */
function textsIn(folder: string): ReadonlyMap<string, string> {
  try {
    return new Map(Object.entries(textsOf({ folder: join(folder, FOLDER) })));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return new Map();
  }
}

/** Tells what became of one file, from the texts of its folder on both machines. */
function outcomeOf(name: string, here: ReadonlyMap<string, string>, there: ReadonlyMap<string, string>): Outcome {
  const [ours, theirs] = [here, there].map((texts) => {
    const own = [...texts].filter(([path]) => path.startsWith(name));
    const has = (word: string) => own.some(([, text]) => text.includes(word));
    const original = texts.get(`${name}.md`);
    return { first: has(FIRST), second: has(SECOND), original, all: JSON.stringify(own) };
  });
  if (ours === undefined || theirs === undefined) throw new Error('two machines were asked for');
  if (!(ours.first || theirs.first) || !(ours.second || theirs.second)) return 'a text is nowhere';
  if (ours.all !== theirs.all) return 'each machine has its own';
  if (ours.original === undefined) return 'on both sides in two copies, the file itself gone';
  const isMerged = ours.original.includes(FIRST) && ours.original.includes(SECOND);
  return isMerged ? 'merged on both sides' : 'on both sides, the other text in a copy beside it';
}
