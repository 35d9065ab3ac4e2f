/** The sections of the manual, and those that contain words. Pure. */
import type { Topic } from '../../common/manual.ts';
import { HEADING_ID, slugOf } from '../rendering/links.ts';

export interface Found {
  /** The address of the section. */
  readonly path: string;
  readonly topic: string;
  readonly heading: string;
  /** The text around the first word, on one line. */
  readonly excerpt: string;
}

interface Section {
  readonly path: string;
  readonly topic: string;
  /** Of what comes before the first: the title of the topic. */
  readonly heading: string;
  readonly text: string;
  /** The searched text, in lower case. */
  readonly folded: string;
  readonly foldedHeading: string;
}

const RESULTS_MAX = 30;
const EXCERPT_CHARS = 160;

/** The returned function finds the sections containing every word, ignoring case, headings first. The first call indexes them. */
export function openSearch(topics: readonly Topic[]): (words: string) => Found[] {
  let all: readonly Section[] | undefined;
  return (words) => {
    all ??= topics.flatMap(sectionsOf);
    const wanted = words
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const hits = all.filter(({ folded }) => wanted.every((word) => folded.includes(word)));
    const inHeading = ({ foldedHeading }: Section) => wanted.filter((word) => foldedHeading.includes(word)).length;
    return hits
      .toSorted((one, other) => inHeading(other) - inHeading(one))
      .slice(0, RESULTS_MAX)
      .map((section) => ({ ...placeOf(section), excerpt: excerptOf(section, wanted[0] ?? '') }));
  };
}

const placeOf = ({ path, topic, heading }: Section) => ({ path, topic, heading });

/** The sections of a topic in their order, the first of them without a heading of its own. */
export function sectionsOf({ name, title, text }: Topic): Section[] {
  return text.split(/^(?=## )/m).map((part) => {
    const heading = /^## (.+)/.exec(part)?.[1];
    const body = plain(part.replace(/^#+ .+\n/, ''));
    const path = `/help/${name}${heading === undefined ? '' : `#${HEADING_ID}${slugOf(heading)}`}`;
    const shown = heading ?? title;
    const folded = `${title}\n${shown}\n${body}`.toLowerCase();
    return { path, topic: title, heading: shown, text: body, folded, foldedHeading: shown.toLowerCase() };
  });
}

/** The text without Markdown syntax, on one line. */
function plain(text: string): string {
  return text
    .replace(/^```.*$/gm, '')
    .replace(/\]\([^)]*\)/g, '')
    .replace(/^\|[-|\s]+\|$/gm, '')
    .replace(/[`*[\]]|^#+ /gm, '')
    .replace(/\s*\|\s*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function excerptOf({ text }: Section, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT_CHARS / 4);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const cut = text.slice(start, start + EXCERPT_CHARS);
  return `${start > 0 ? '… ' : ''}${cut}${start + EXCERPT_CHARS < text.length ? ' …' : ''}`;
}
