/**
 * Merges triples of a real history as `git merge-file` does: `node dist/test/text/merge-loop.js GIT_FOLDER [TRIPLES]`.
 * A triple is one file that both sides of a merge changed, or one that a later commit changed after a commit that is
 * reverted. Each is merged in every style and favor.
 */

import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitLines } from '../../src/text/lines.ts';
import { type MergeOptions, type MergeTexts, mergeTexts } from '../../src/text/merge.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const TRIPLES_DEFAULT = 2000;
const OUTPUT_BYTES_MAX = 2 ** 30;
/** git tells no larger number of conflicts. */
const GIT_CONFLICTS_MAX = 127;
/** The most that the hub merges by lines. */
const LINES_MAX = 20_000;
const labels: MergeTexts = { base: 'the base', ours: 'our side', theirs: 'their side' };
const ways: readonly MergeOptions[] = [
  { favor: 'none', style: 'merge', labels },
  { favor: 'none', style: 'diff3', labels },
  { favor: 'ours', style: 'merge', labels },
  { favor: 'theirs', style: 'merge', labels },
];

/** Names of blobs. */
interface Triple {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

const repository = process.argv[2];
if (repository === undefined) throw new Error('name the .git folder of a repository');
const triplesMax = Number(process.argv[3] ?? TRIPLES_DEFAULT);
const folder = temporaryFolder();
const count = { merges: 0, reverts: 0, conflicted: 0, compared: 0, different: 0 };
const seen = new Set<string>();
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
for (const [kind, triples] of [
  ['merges', mergedFiles()],
  ['reverts', revertedFiles()],
] as const) {
  for (const triple of triples) {
    if (count.merges + count.reverts === triplesMax) break;
    compare(triple, kind);
  }
}
const { merges, reverts, conflicted, compared, different } = count;
process.stdout.write(
  `${merges} triples of merges and ${reverts} of reverts, ${conflicted} with conflicts: ${compared} outputs compared, ${different} different\n`,
);
process.exitCode = different === 0 && merges + reverts > 0 ? 0 : 1;

function run(args: readonly string[], input = ''): { readonly output: Buffer; readonly status: number | null } {
  const { stdout, status } = spawnSync('git', [`--git-dir=${repository}`, ...args], {
    input,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return { output: stdout, status };
}

function history(...args: string[]): string {
  const { output, status } = run(args);
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed`);
  return output.toString();
}

/** The ancestor of two commits; undefined if there is none, or if there are several: git makes one of them first. */
function ancestorOf(ours: string, theirs: string): string | undefined {
  const found = linesOf(run(['merge-base', '--all', ours, theirs]).output.toString());
  return found.length === 1 ? found[0] : undefined;
}

/** What changed from one commit to another: blobs by path. */
function changedFiles(from: string, to: string): Map<string, { readonly before: string; readonly after: string }> {
  const records = history('diff-tree', '-r', '-z', '--no-renames', '--diff-filter=M', from, to).split('\0');
  const files = new Map<string, { readonly before: string; readonly after: string }>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [, , before = '', after = ''] = (records[at] ?? '').split(' ');
    files.set(records[at + 1] ?? '', { before, after });
  }
  return files;
}

function* mergedFiles(): Generator<Triple> {
  for (const line of linesOf(history('rev-list', '--merges', '--parents', '--all'))) {
    const [, ours = '', theirs = '', more] = line.split(' ');
    const base = more === undefined ? ancestorOf(ours, theirs) : undefined;
    if (base === undefined) continue;
    const theirFiles = changedFiles(base, theirs);
    for (const [path, { before, after }] of changedFiles(base, ours)) {
      const theirFile = theirFiles.get(path);
      if (theirFile !== undefined) yield { base: before, ours: after, theirs: theirFile.after };
    }
  }
}

/** Each change of a file taken back on the text that the file has some commits later. */
function* revertedFiles(): Generator<Triple> {
  const LATER = 5;
  const log = history('log', '--no-merges', '--raw', '--no-abbrev', '--no-renames', '--diff-filter=M', '--format=');
  const newerBlobs = new Map<string, string[]>();
  for (const line of linesOf(log)) {
    const [head = '', path = ''] = line.split('\t');
    const [, , before = '', after = ''] = head.split(' ');
    const newer = newerBlobs.get(path) ?? [];
    newerBlobs.set(path, newer);
    const ours = newer.at(-LATER) ?? newer[0];
    if (ours !== undefined) yield { base: after, ours, theirs: before };
    newer.push(after);
  }
}

function compare(triple: Triple, kind: 'merges' | 'reverts'): void {
  const name = Object.values(triple).join(' ');
  if (new Set(name.split(' ')).size < 3 || seen.has(name)) return;
  seen.add(name);
  const texts = read(triple);
  if (texts === undefined) return;
  count[kind] += 1;
  for (const [side, text] of Object.entries(texts)) writeFileSync(join(folder, side), text);
  for (const options of ways) {
    const expected = gitMerge(options);
    const { content, conflicts } = mergeTexts(texts, options);
    if (options.style === 'merge' && options.favor === 'none' && conflicts > 0) count.conflicted += 1;
    count.compared += 1;
    if (content === expected.content && Math.min(conflicts, GIT_CONFLICTS_MAX) === expected.conflicts) continue;
    count.different += 1;
    process.stderr.write(`different: ${options.style}, favor ${options.favor}: ${name}\n`);
  }
}

/** The texts; undefined if one of them is not a text that the hub merges by lines. */
function read(triple: Triple): MergeTexts | undefined {
  const { output } = run(['cat-file', '--batch'], `${triple.base}\n${triple.ours}\n${triple.theirs}\n`);
  let at = 0;
  const [base, ours, theirs] = [1, 2, 3].map(() => {
    const start = output.indexOf('\n', at) + 1;
    const [, type, size] = output.subarray(at, start).toString().split(' ');
    const content = output.subarray(start, start + Number(size));
    at = start + Number(size) + 1;
    const isText = type === 'blob' && isUtf8(content) && !content.includes(0);
    return isText && splitLines(content.toString()).length <= LINES_MAX ? content.toString() : undefined;
  });
  return base === undefined || ours === undefined || theirs === undefined ? undefined : { base, ours, theirs };
}

function gitMerge({ favor, style }: MergeOptions) {
  const flags = [...(favor === 'none' ? [] : [`--${favor}`]), ...(style === 'diff3' ? ['--diff3'] : [])];
  const names = [labels.ours, labels.base, labels.theirs].flatMap((label) => ['-L', label]);
  const args = ['merge-file', '-p', ...flags, ...names, 'ours', 'base', 'theirs'];
  const { stdout, status } = spawnSync('git', args, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  if (status === null || status > GIT_CONFLICTS_MAX) throw new Error('git merge-file failed');
  return { content: stdout.toString(), conflicts: status };
}
