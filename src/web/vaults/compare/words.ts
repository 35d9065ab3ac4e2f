/** Finds the words of a changed line that differ from its counterpart. Pure. */
import { matchSequences } from '../../../text/myers.ts';

export interface LinePart {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Longer lines are shown as changed entirely: marks in them are unreadable, and comparing them takes too long. */
const TOKENS_MAX = 400;

/**
 * Splits both lines into changed and unchanged parts. Words, runs of spaces and single symbols are compared by their
 * longest common subsequence (text/myers.ts). Returns undefined when the lines have no word in common or are too long.
 */
export function changedWords(left: string, right: string): readonly [LinePart[], LinePart[]] | undefined {
  const [before, after] = [tokensOf(left), tokensOf(right)];
  if (before.length > TOKENS_MAX || after.length > TOKENS_MAX) return undefined;
  const numbers = new Map<string, number>();
  const numbered = (tokens: readonly string[]) =>
    Int32Array.from(tokens, (token) => {
      const number = numbers.get(token) ?? numbers.size;
      numbers.set(token, number);
      return number;
    });
  const matches = matchSequences(numbered(before), numbered(after));
  if (!Array.from(matches.left).some((at) => /\w|[^\p{ASCII}]/u.test(before[at] ?? ''))) return undefined;
  return [partsOf(before, new Set(matches.left)), partsOf(after, new Set(matches.right))];
}

function tokensOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function partsOf(tokens: readonly string[], common: ReadonlySet<number>): LinePart[] {
  const parts: { text: string; isChanged: boolean }[] = [];
  for (const [at, token] of tokens.entries()) {
    const isChanged = !common.has(at);
    const last = parts.at(-1);
    if (last?.isChanged === isChanged) last.text += token;
    else parts.push({ text: token, isChanged });
  }
  return parts;
}
