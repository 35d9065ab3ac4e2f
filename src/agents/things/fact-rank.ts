/** Ranks facts by how well they match a query: its words, their beginnings, and pairs of Chinese, Japanese or Korean letters. Pure. */

interface Ranked {
  readonly fact: string;
  readonly about: string | null;
}

/** Facts that match, the best first; equal ones keep their order. A match in what it is about counts twice. */
export function rankFacts<F extends Ranked>(facts: readonly F[], query: string): F[] {
  const wanted = termsOf(query);
  const scored = facts.map((one, index) => ({ one, index, score: scoreOf(one, wanted) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ one }) => one);
}

function scoreOf({ fact, about }: Ranked, wanted: readonly string[]): number {
  const [words, topics] = [termsOf(fact), termsOf(about ?? '')];
  return (
    wanted.reduce((sum, term) => sum + matchOf(words, term) + 2 * matchOf(topics, term), 0) / Math.max(1, wanted.length)
  );
}

/** 1 for the word itself, less for one that begins in the same way: `deploy` and `deployment`. */
function matchOf(words: readonly string[], term: string): number {
  if (words.includes(term)) return 1;
  const stem = term.length > 5 ? term.slice(0, -2) : term;
  return words.some((word) => word.startsWith(stem) || (word.length > 4 && term.startsWith(word))) ? 0.5 : 0;
}

const COMMON = new Set(
  'a an and are as at be by do for from how i in is it my of on or our that the this to was we what when where which who why with'.split(
    ' ',
  ),
);
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

function termsOf(text: string): string[] {
  const folded = text.normalize('NFKC').toLowerCase();
  const pairs = (folded.match(CJK) ?? []).flatMap((run) =>
    run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
  );
  const words = (folded.replace(CJK, ' ').match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !COMMON.has(word));
  return [...new Set([...words, ...pairs])];
}
