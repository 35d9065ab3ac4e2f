/**
 * Draws sentences of Cairn by lot, to be read as an English editor reads: as many from pages, the command line, refusals, tools and
 * the manual. Prints each with its place. The same seed draws the same sentences from the same sources.
 *
 * usage: node .dev/sentences.mjs [SEED [COUNT]]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [seed = 1, count = 300] = process.argv.slice(2).map(Number);

const filesIn = (folder, ending) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

/** A string of the source as its reader sees it: what is filled in becomes an ellipsis, and strings in two lines one. */
function textsOf(source) {
  const joined = source.replace(/^\s*(\/\*\*?|\*|\/\/).*$/gm, '').replace(/(['`])\s*\+\s*\n\s*(['`])/g, '');
  const literals = [...joined.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(
    ([, one, other]) => one ?? other,
  );
  const shown = [...joined.matchAll(/>\s*([A-Z“][^<>{}]*?[^\s<>{}=])\s*</g)].map(([, text]) => text);
  return [...literals, ...shown].map((text) => text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…').replace(/\\'/g, "'"));
}

/** The sentences of a text in Markdown, without its examples and tables of names. */
const proseOf = (text) =>
  text
    .replace(/<!--[\s\S]*?-->|^```[\s\S]*?^```|^ {4}.*$|^#.*$/gm, '')
    .split(/\n\n|^[-|] |\s\|\s|^\d+\. /m)
    .flatMap((part) => part.replace(/\s+/g, ' ').split(/(?<=[.:?!]) (?=[A-Z`*[])/));

/** What is code, a command to type, or a text of the demo. */
const CODE = /[{};]\s*$|=>|\bimport\b|===|\? ''|\breturn\b|^cairn \w|^# |^#?…[ …]*$/;

const isSentence = (text) => {
  const words = text.trim().split(/\s+/);
  return words.length >= 5 && words.length <= 60 && /^[A-Za-z“"`*[…#]/.test(text.trim()) && !CODE.test(text);
};

const OF_PAGES = /^src\/web\//;
const OF_CLI = /^src\/(cli|client)\//;
const OF_TOOLS = /\/(tools|catalog|declared|fields)[^/]*\.ts$|\/tools\/|^src\/agents\//;
const kindOf = (path) =>
  OF_PAGES.test(path) ? 'page' : OF_CLI.test(path) ? 'command' : OF_TOOLS.test(path) ? 'tool' : 'refusal';

const drawn = { page: [], command: [], tool: [], refusal: [], manual: [] };
for (const file of filesIn('src', /\.tsx?$/)) {
  const path = relative(root, file);
  if (path.startsWith('src/cli/demo/')) continue;
  for (const text of textsOf(readFileSync(file, 'utf8'))) {
    const one = text.replace(/\s+/g, ' ').trim();
    if (isSentence(one)) drawn[kindOf(path)].push([path, one]);
  }
}
for (const file of filesIn('src/manual', /\.md$/).concat(join(root, 'README.md')))
  for (const text of proseOf(readFileSync(file, 'utf8')))
    if (isSentence(text)) drawn.manual.push([relative(root, file), text.trim()]);

/** Mulberry32, of Tommy Ettinger. */
let state = seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}

let number = 0;
for (const [kind, all] of Object.entries(drawn)) {
  const rest = [...all];
  for (let taken = 0; taken < Math.ceil(count / 5) && rest.length > 0; taken += 1) {
    const [[path, text]] = rest.splice(Math.floor(random() * rest.length), 1);
    number += 1;
    process.stdout.write(`${number} ${kind} ${path}: ${text}\n`);
  }
}
