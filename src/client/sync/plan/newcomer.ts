/**
 * Finds what a newcomer rarely wants on a hub: folders that a program makes again at any time, and kinds of large files.
 * Writes rules of ignore files. Pure.
 */
import { entryNameOf } from '../folder/path.ts';

/** Folders of this name are made again by a program, wherever they are. */
const MADE_AGAIN: ReadonlySet<string> = new Set(
  [
    'node_modules bower_components .next .nuxt .svelte-kit .parcel-cache .turbo .angular',
    '__pycache__ .venv .tox .nox .mypy_cache .pytest_cache .ruff_cache',
    '.gradle .terraform .dart_tool DerivedData',
  ].flatMap((names) => names.split(' ')),
);
/** Folders whose name alone does not tell: made again where one of these files is beside them. */
const MADE_BESIDE: Readonly<Record<string, readonly string[]>> = {
  target: ['Cargo.toml', 'pom.xml', 'build.sbt'],
  build: ['package.json', 'build.gradle', 'build.gradle.kts', 'CMakeLists.txt', 'pyproject.toml', 'pubspec.yaml'],
  dist: ['package.json', 'pyproject.toml', 'setup.py'],
  out: ['package.json', 'build.gradle', 'build.gradle.kts'],
  venv: ['requirements.txt', 'pyproject.toml', 'setup.py'],
  vendor: ['composer.json'],
  Pods: ['Podfile'],
};
/** A file is large from here on, and a kind of large files is named from this many bytes together. */
const LARGE_BYTES = 2 ** 20;
const LARGE_TOGETHER_BYTES = 100 * 2 ** 20;
/** More kinds of large files are not asked about. */
const KINDS_MAX = 5;

/** Something to leave out, and what it holds. */
export interface Suggestion {
  /** The line of an ignore file. */
  readonly rule: string;
  readonly files: number;
  readonly bytes: number;
}

/** The rule that leaves out a folder that is made again; undefined for any other. `beside`: the names in its folder. */
export function ruleOfMadeAgain(path: string, beside: ReadonlySet<string>): string | undefined {
  const name = entryNameOf(path);
  if (MADE_AGAIN.has(name)) return `${name}/`;
  const marks = Object.hasOwn(MADE_BESIDE, name) ? MADE_BESIDE[name] : undefined;
  return marks?.some((mark) => beside.has(mark)) === true ? ignoreRuleFor(path, true) : undefined;
}

/** The kinds of large files, by the ends of their names, largest first. */
export function largeKinds(files: Iterable<{ readonly path: string; readonly bytes: number }>): Suggestion[] {
  const kinds = new Map<string, Suggestion>();
  for (const { path, bytes } of files) {
    const end = /[^/.]\.([A-Za-z0-9]{1,8})$/.exec(path)?.[1];
    if (end === undefined || bytes < LARGE_BYTES) continue;
    const rule = `*.${end}`;
    const before = kinds.get(rule) ?? { files: 0, bytes: 0 };
    kinds.set(rule, { rule, files: before.files + 1, bytes: before.bytes + bytes });
  }
  return [...kinds.values()]
    .filter(({ bytes }) => bytes >= LARGE_TOGETHER_BYTES)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, KINDS_MAX);
}

/** The rule of an ignore file that leaves out exactly this path (gitignore(5)). */
export function ignoreRuleFor(path: string, isFolder: boolean): string {
  return `/${path.replace(/[\\*?[\]]/g, '\\$&').replace(/ $/, '\\ ')}${isFolder ? '/' : ''}`;
}

/** The text of an ignore file with more rules at its end. */
export function withRules(text: string, rules: readonly string[]): string {
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `${start}${rules.map((rule) => `${rule}\n`).join('')}`;
}
