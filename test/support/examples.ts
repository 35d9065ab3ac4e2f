/** Reads the examples of README and manual: every `sh` block of a section is one script, as a reader would paste it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Example {
  /** The page and the heading. */
  readonly title: string;
  readonly script: string;
}

/** Paths of README and of every manual page, from the root of the repository. */
export function pages(): string[] {
  const manual = readdirSync(`${ROOT}/src/manual`).filter((name) => name.endsWith('.md'));
  return ['README.md', ...manual.map((name) => `src/manual/${name}`)];
}

export const textOf = (page: string): string => readFileSync(`${ROOT}/${page}`, 'utf8');

/** The text of each second-level section with its heading; what comes before the first has the name of the page. */
function sections(page: string): { heading: string; text: string }[] {
  return textOf(page)
    .split(/^(?=## )/m)
    .map((text) => ({ heading: /^## (.+)/.exec(text)?.[1] ?? page, text }));
}

/**
 * The sections of a page that have something to run. `<!-- not run: reason -->` before a block leaves it out;
 * `<!-- before: commands -->` are commands that bring about what the section assumes.
 */
export function examples(page: string): Example[] {
  return sections(page).flatMap(({ heading, text }) => {
    const blocks = [
      ...text.matchAll(/(?:<!-- (not run|before):\s((?:(?!-->)[\s\S])*?)\s*-->\n)?^```sh\n([\s\S]*?)^```/gm),
    ];
    const lines = blocks.flatMap(([, mark, note = '', block = '']) => {
      if (mark === 'not run') return [];
      return mark === 'before' ? [note, block] : [block];
    });
    return lines.length === 0 ? [] : [{ title: `${page}: ${heading}`, script: lines.join('\n') }];
  });
}
