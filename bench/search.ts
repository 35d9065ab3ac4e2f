/**
 * How fast does the index of an account find words, and how large is it? Texts of 4 KB in memory, no hub: 20,000 by
 * default, `node dist/bench/search.js 100000` for more. The yardstick is a walk over the same texts by `includes`. Beside
 * the time that passes it gives the processor's time, which other processes change little.
 */
import { performance } from 'node:perf_hooks';
import { limits } from '../src/limits/service.ts';
import { AccountIndex } from '../src/search/account-index.ts';
import { snippetsOf } from '../src/search/snippets.ts';
import { wantedWords } from '../src/search/words.ts';
import { makeText, QUERIES, vocabulary } from './zipf-texts.ts';

const [, , given = '20000'] = process.argv;
const FILES = Number(given);
const ROUNDS = 100;
const YARDSTICK_FILES = 2000;

const index = new AccountIndex();
const kept: string[] = [];
let textBytes = 0;
let putMs = 0;
let longestMs = 0;
/** Milliseconds of processors that this process used. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let putCpuMs = 0;
for (let file = 0; file < FILES; file += 1) {
  const text = makeText();
  textBytes += text.length;
  if (file < YARDSTICK_FILES) kept.push(text);
  const startedMs = performance.now();
  const startedCpuMs = cpuMs();
  index.put({
    kind: 'file',
    key: `v/${file}`,
    stamp: 1,
    changedMs: file,
    name: `${file}.md`,
    place: `v/${file}.md`,
    text,
  });
  longestMs = Math.max(longestMs, performance.now() - startedMs);
  for (let isTidy = false; !isTidy; ) {
    const sliceMs = performance.now();
    isTidy = index.tidy(() => performance.now() - sliceMs >= limits.searchSliceMs);
    longestMs = Math.max(longestMs, performance.now() - sliceMs);
  }
  putMs += performance.now() - startedMs;
  putCpuMs += cpuMs() - startedCpuMs;
}
const at = (sorted: readonly number[], share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
process.stdout.write(
  `${FILES} files, ${(textBytes / 1e6).toFixed(0)} MB: indexed in ${(putMs / 1000).toFixed(1)} s (processor ${(putCpuMs / 1000).toFixed(1)} s), longest slice ${longestMs.toFixed(0)} ms, index ${((100 * index.bytes) / textBytes).toFixed(0)} % of the text, process ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB\n`,
);
/** Writes the times of `ROUNDS` calls. `ask` makes what is measured. */
function measure(name: string, ask: () => () => number, of: string): void {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let found = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const run = ask();
    const startedMs = performance.now();
    const startedCpuMs = cpuMs();
    found += run();
    times.push(performance.now() - startedMs);
    cpuTimes.push(cpuMs() - startedCpuMs);
  }
  times.sort((a, b) => a - b);
  cpuTimes.sort((a, b) => a - b);
  process.stdout.write(
    `${name}: p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms (processor ${at(cpuTimes, 0.5)} and ${at(cpuTimes, 0.99)} ms), ${Math.round(found / ROUNDS)} ${of}
`,
  );
}

for (const [name, make] of QUERIES) {
  const ask = () => {
    const wanted = wantedWords(make());
    return () => index.rank(wanted, {}, Date.now()).total;
  };
  measure(name, ask, 'found');
}
const wanted = wantedWords(`${vocabulary[0]} ${vocabulary[5]} ${vocabulary[5000]}`);
const shown = kept.slice(0, limits.searchReread);
const linesOf = () => shown.reduce((sum, text) => sum + snippetsOf(text, wanted).lines.length, 0);
measure(`the lines shown of ${shown.length} texts`, () => linesOf, 'lines');
const [, wordOf] = QUERIES[0] ?? ['', () => ''];
const startedMs = performance.now();
const word = wordOf();
const hits = kept.filter((text) => text.includes(word)).length;
const walkMs = ((performance.now() - startedMs) * FILES) / Math.max(1, kept.length);
process.stdout.write(
  `yardstick, a walk by includes: ${walkMs.toFixed(1)} ms for ${FILES} texts in memory (${hits} found)\n`,
);
