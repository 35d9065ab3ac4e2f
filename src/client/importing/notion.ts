/**
 * Makes paths that people can read from those of a Notion export in Markdown and CSV, whose names end with an id of 32
 * hexadecimal digits, and changes links to match. Pure.
 */
import { posix } from 'node:path';

const ID = /[ _-][0-9a-f]{32}(?=$|[._])/;

/** Returns the path of each file without ids. A name that two files would share gets a number. */
export function notionPaths(paths: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  const taken = new Set<string>();
  for (const path of paths.toSorted()) {
    const plain = path
      .split('/')
      .map((part) => part.replace(ID, ''))
      .join('/');
    const { dir, name, ext } = posix.parse(plain);
    let candidate = plain;
    for (let count = 2; taken.has(candidate.toLowerCase()); count += 1) {
      candidate = posix.join(dir, `${name} ${count}${ext}`);
    }
    taken.add(candidate.toLowerCase());
    given.set(path, candidate);
  }
  return given;
}

/** Changes relative links of a Markdown text to the new paths. `path`: where the text was in the export. */
export function relinked(text: string, path: string, paths: ReadonlyMap<string, string>): string {
  const from = posix.dirname(paths.get(path) ?? path);
  return text.replace(/(\]\()([^()\s]+)(\))/g, (whole, open: string, target: string, close: string) => {
    const to = paths.get(posix.join(posix.dirname(path), decoded(target)));
    if (to === undefined) return whole;
    return `${open}${posix.relative(from, to).split('/').map(encodeURIComponent).join('/')}${close}`;
  });
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    // Not an encoded path: it stays as it is.
    return target;
  }
}
