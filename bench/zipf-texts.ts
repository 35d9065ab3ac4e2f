/** Makes texts of some 4 KB whose words follow Zipf's law, the same in each run, and queries for them. */

const WORDS_PER_TEXT = 650;
const VOCABULARY = 60_000;

let state = 42;
/** A number from 0 up to 1 (Lehmer's generator). */
function random(): number {
  state = (state * 48_271) % 0x7fffffff;
  return state / 0x7fffffff;
}

const SYLLABLES =
  'ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te'.split(' ');
/** The most frequent word first. */
export const vocabulary: readonly string[] = Array.from({ length: VOCABULARY }, (_, at) => {
  let word = '';
  for (let rest = at + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length] ?? '';
  return word;
});

/** Few words are in most texts, most words in few. */
const rankOf = () => Math.floor(VOCABULARY ** random()) - 1;

export function makeText(): string {
  const words: string[] = [];
  for (let at = 0; at < WORDS_PER_TEXT; at += 1) words.push(vocabulary[rankOf()] ?? 'ba', at % 12 === 11 ? '\n' : '');
  return words.join(' ');
}

const wordAt = (from: number, among: number) => vocabulary[from + Math.floor(random() * among)] ?? '';

/** Makers of queries by what they ask for. */
export const QUERIES: readonly (readonly [what: string, make: () => string])[] = [
  ['one rare word', () => wordAt(30_000, 20_000)],
  ['two middling words', () => `${wordAt(200, 800)} ${wordAt(200, 800)}`],
  ['one common word', () => wordAt(0, 10)],
  ['two common words', () => `${wordAt(0, 10)} ${wordAt(10, 10)}`],
  ['three letters of a word', () => wordAt(1000, 1000).slice(0, 3)],
  ['a wrong letter', () => `${wordAt(5000, 20_000).slice(0, 5)}xq`],
];
