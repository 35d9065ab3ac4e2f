/** Reads the source tree for mutations: the texts, and which unit tests load which files. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const isCompiled = import.meta.url.includes('/dist/');
/** The folder of the sources, whether this file runs as it is or compiled. */
export const ROOT = fileURLToPath(new URL(isCompiled ? '../../..' : '../..', import.meta.url));

/** Returns the text of a file by its path from the root. */
export function sourceText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The files that each file loads when it runs, by path from the root. */
export class Loads {
  readonly #loaded = new Map<string, readonly string[]>();

  /** Returns the unit tests that load a file themselves; if none does, those that load it through the fewest others. */
  testsOf(path: string): string[] {
    const found = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.unit.test.ts'))
      .map((name) => join('test', name))
      .map((test) => ({ test, distance: this.#distance(test, path) ?? Number.POSITIVE_INFINITY }));
    const least = Math.min(...found.map(({ distance }) => distance));
    return found
      .filter(({ distance }) => distance === least && distance < Number.POSITIVE_INFINITY)
      .map(({ test }) => test)
      .toSorted();
  }

  #distance(from: string, to: string): number | undefined {
    const seen = new Set([from]);
    let ring = [from];
    for (let distance = 1; ring.length > 0; distance += 1) {
      const next = ring.flatMap((path) => this.#loadsOf(path)).filter((path) => !seen.has(path));
      if (next.includes(to)) return distance;
      for (const path of next) seen.add(path);
      ring = [...new Set(next)];
    }
    return undefined;
  }

  #loadsOf(path: string): readonly string[] {
    const known = this.#loaded.get(path);
    if (known !== undefined) return known;
    const found = [...sourceText(path).matchAll(/^(?:import|export)([^;]*?)from '(\.[^']+\.tsx?)'/gm)]
      .filter(([, what = '']) => !/^ (type |\{(\s*type \w+( as \w+)?,?)+\s*\} $)/.test(what))
      .map(([, , target = '']) => relative(ROOT, join(ROOT, dirname(path), target)));
    this.#loaded.set(path, found);
    return found;
  }
}
