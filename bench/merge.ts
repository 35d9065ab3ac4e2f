/** What does a three-way merge cost, compared with `git merge-file` as a process, with and without its start? */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MergeTexts, mergeTexts } from '../src/text/merge.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { requireTool } from './peers/child.ts';
import { type Bench, note, type Row, runWhenStarted, shown, summarize } from './report.ts';

const LINES_MAX = 20_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const labels: MergeTexts = { base: 'base', ours: 'ours', theirs: 'theirs' };

interface Question {
  readonly name: string;
  readonly texts: MergeTexts;
}

/** Returns deterministic noise: the same texts in every run (a linear congruential generator). */
function noise(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns a text of prose-like lines, and the same with one line in `every` changed. */
function edited(lines: number, every: number): MergeTexts {
  const base = Array.from({ length: lines }, (_, at) => `line ${at} of a text that two people work on\n`);
  const change = (who: string, offset: number) =>
    base.map((line, at) => (at % every === offset ? `${who} changed line ${at}\n` : line)).join('');
  return { base: base.join(''), ours: change('one', 0), theirs: change('the other', Math.floor(every / 2)) };
}

function random(lines: number, words: number): MergeTexts {
  const next = noise(words);
  const text = () => Array.from({ length: lines }, () => `${next(words)}\n`).join('');
  return { base: text(), ours: text(), theirs: text() };
}

export const merge: Bench = async ({ quick }) => {
  requireTool('git', 'git');
  const questions: Question[] = [
    { name: 'merge of 400 lines, 20 changed by each side', texts: edited(400, 20) },
    { name: 'merge of 20,000 lines, 1,000 changed by each side', texts: edited(LINES_MAX, 20) },
    { name: 'merge of three texts of 20,000 lines of ten random words', texts: random(LINES_MAX, 10) },
  ];
  return questions.map((question) => ask(question, quick ? 5 : 21));
};

/** The sides alternate; the start of a process is measured each round with texts that need no merge. */
function ask({ name, texts }: Question, rounds: number): Row {
  const folder = temporaryFolder();
  for (const [side, text] of Object.entries(texts)) writeFileSync(join(folder, side), text);
  writeFileSync(join(folder, 'empty'), '');
  if (run(folder, ['ours', 'base', 'theirs']).text !== cairn(texts).text)
    throw new Error('the sides merge differently');
  const cairnMs: number[] = [];
  const gitMs: number[] = [];
  const workMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    cairnMs.push(cairn(texts).ms);
    gitMs.push(run(folder, ['ours', 'base', 'theirs']).ms);
    workMs.push((gitMs.at(-1) ?? 0) - run(folder, ['empty', 'empty', 'empty']).ms);
  }
  note(`  ${name}: git without its start ${shown(workMs, 'ms', 1)}`);
  const ratios = gitMs.map((ms, at) => ms / (cairnMs[at] ?? Number.NaN));
  return {
    question: name,
    cairn: shown(cairnMs, 'ms', 1),
    yardstick: `git merge-file ${shown(gitMs, 'ms', 1)}, without its start ${summarize(workMs).median.toFixed(1)} ms`,
    ratio: shown(ratios, '', 2),
    target: '',
    reached: undefined,
  };
}

function cairn(texts: MergeTexts) {
  const startMs = performance.now();
  const { content } = mergeTexts(texts, { favor: 'none', style: 'merge', labels });
  return { text: content, ms: performance.now() - startMs };
}

function run(folder: string, files: readonly string[]) {
  const names = Object.values({ ours: labels.ours, base: labels.base, theirs: labels.theirs }).flatMap((name) => [
    '-L',
    name,
  ]);
  const startMs = performance.now();
  const { stdout } = spawnSync('git', ['merge-file', '-p', ...names, ...files], {
    cwd: folder,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return { text: stdout.toString(), ms: performance.now() - startMs };
}

await runWhenStarted(import.meta.url, merge);
